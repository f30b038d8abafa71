// Draws docs/pictures/speed.svg, the picture of README.md: short tasks of five pools, and tasks of 1 ms of two.
import { picture, round, words } from './picture-style.js'
import { dayOf, describeCores, findRow, formatValue, gainOver, roundRatio, verdictOf } from './results.js'

const width = 640
const left = 112

export function drawSpeed(run) {
  const ids = ['P3', 'P9', 'real-levenshtein-2-4', 'real-levenshtein-2-4-cpu']
  const [short, long, real, cpu] = ids.map(id => findRow(run, id))
  const ofPiscina = gainOver(real, 'piscina')
  const mediansOf = (row, ...pools) => pools.map(name => [name, row.pools[name].median])
  const blocks = [
    {
      title: `Short tasks: ${compare(gainOver(short, 'piscina'))}`,
      figures: mediansOf(short, 'lido', 'piscina', 'tinypool', 'workerpool', 'poolifier-tuned'),
      format: value => `${formatValue(value, 'per second')} a second`,
    },
    {
      title: `Tasks of 1 ms: ${compare(gainOver(long, 'piscina'))}`,
      figures: mediansOf(long, 'lido', 'piscina'),
      format: value => `${formatValue(value, 'share')} of the ideal`,
    },
    {
      title: `Tasks of ${Math.round(cpu.pools.piscina.median / 1000)} ms: ${compare(ofPiscina)}`,
      // The speed of the machine changes more between rounds than the pools differ. So these are ratios within a round.
      figures: [
        ['lido', ofPiscina.median],
        ['piscina', 1],
      ],
      format: value => `${Math.round(value * 100)} % of piscina`,
    },
  ]
  const content = []
  let top = 0
  for (const { title, figures, format } of blocks) {
    content.push(words(0, top + 24, 22, 'text', title, { bold: true }))
    top += 40
    const scale = (width - left - 185) / Math.max(...figures.map(([, figure]) => figure))
    for (const [name, figure] of figures) {
      const width = round(Math.max(2, figure * scale))
      const isOwn = name === 'lido'
      content.push(
        words(0, top + 18, 17, 'text', name.split('-')[0], { bold: isOwn }),
        `<rect x="${left}" y="${top + 2}" width="${width}" height="20" rx="3" fill="var(--${isOwn ? 'accent' : 'other'})"/>`,
        words(round(left + width + 8), top + 18, 16, 'text', format(figure), { bold: isOwn }),
      )
      top += 29
    }
    top += 18
  }
  const facts = 'Short: objects of 6 fields, one worker, 64 unfinished calls. Others: a worker for each core.'
  content.push(
    words(0, top + 8, 13, 'muted', facts),
    words(0, top + 26, 13, 'muted', `Node ${run.machine.node}, ${describeCores(run)}, ${dayOf(run)}`),
  )
  return picture({ kind: 'picture', width, height: top + 34, content: content.join('\n') })
}

function compare(gain) {
  if (verdictOf(gain) === 'level') return 'level with piscina'
  return `${roundRatio(gain.median)} times piscina`
}
