// Draws one chart: a bar for each pool of a row, or lido's share of piscina's figure for each of several rows.
import { formatRatio } from '../../bench/units.js'
import { picture, round, words } from './picture-style.js'
import {
  dayOf,
  describeCores,
  findRow,
  formatSpread,
  formatValue,
  gainOver,
  labelOf,
  poolsOf,
  roundRatio,
  verdictOf,
} from './results.js'

/** The names of a line stand over its bar, so that the bars have the whole width and a phone shows readable letters. */
const width = 400
const line = { height: 36, barTop: 20, barHeight: 9 }
const headHeight = 50
/** Where the figures of a line end. The longest verdict of its kind stands right of them. */
const figureEnds = { pool: 288, share: 340 }

export function drawChart(chart, run) {
  const lines =
    chart.lines === undefined ? poolLines(findRow(run, chart.id), run) : shareLines(chart.lines, run)
  const largest = Math.max(...lines.map(({ value }) => value))
  const foot = headHeight + lines.length * line.height
  const content = [
    words(0, 16, 15, 'text', chart.title, { bold: true }),
    words(0, 36, 12, 'muted', chart.scale),
    ...lines.flatMap((each, index) => drawLine(each, headHeight + index * line.height, largest)),
    ...(chart.lines === undefined ? [] : [drawMarks(lines.length, round(width / largest))]),
    words(0, foot + 16, 12, 'text', summarize(lines, chart.lines === undefined), { bold: true }),
    words(0, foot + 34, 11, 'muted', `Node ${run.machine.node}, ${describeCores(run)}, ${dayOf(run)}`),
  ]
  return picture({ kind: 'chart', width, height: foot + 40, content: content.join('\n') })
}

/** One line for each pool. */
function poolLines(row, run) {
  return poolsOf(row).map(name => ({
    label: labelOf(run, name),
    value: row.pools[name].median,
    figure: formatSpread(row.pools[name], value => formatValue(value, row.unit)),
    figureEnd: figureEnds.pool,
    verdict: describeGain(gainOver(row, name)),
    gain: gainOver(row, name),
    isOwn: name === 'lido',
    isPeer: run.pools[name].role === 'peer',
  }))
}

/** One line for each row: lido's share of piscina's figure. */
function shareLines(rows, run) {
  return rows.map(({ id, label }) => {
    const gain = gainOver(findRow(run, id), 'piscina')
    return {
      label,
      value: gain.median,
      figure: formatSpread(gain, formatRatio),
      figureEnd: figureEnds.share,
      verdict: verdictOf(gain),
      gain,
      isOwn: true,
      isPeer: true,
    }
  })
}

function drawLine({ label, value, figure, figureEnd, verdict, isOwn }, top, largest) {
  const color = isOwn ? 'accent' : 'other'
  const length = round(Math.max(1, (width * value) / largest))
  return [
    words(0, top + 14, 13, 'text', label, { bold: verdict === null }),
    words(figureEnd, top + 14, 12, 'muted', figure, { end: true }),
    ...(verdict === null ? [] : [words(width, top + 14, 12, 'text', verdict, { end: true, bold: true })]),
    `<rect x="0" y="${top + line.barTop}" width="${length}" height="${line.barHeight}" rx="2" fill="var(--${color})"/>`,
  ]
}

/** A mark on each bar at piscina's own figure. */
function drawMarks(count, x) {
  const marks = Array.from({ length: count }, (_, index) => {
    const top = headHeight + index * line.height + line.barTop - 3
    return `M${x} ${top}v${line.barHeight + 6}`
  })
  return `<path d="${marks.join('')}" stroke="var(--text)" stroke-width="1.5"/>`
}

/** lido itself has no verdict, and neither has a pool that did nothing. */
function describeGain(gain) {
  if (gain === null) return null
  const verdict = verdictOf(gain)
  if (verdict === 'level') return 'level'
  const times = `× ${roundRatio(gain.median)}`
  return verdict === 'ahead' ? `lido ${times}` : `behind ${times}`
}

/** Counts where lido is ahead, level and behind: over the settings of other pools, or over the rows. */
function summarize(lines, isOfPools) {
  const compared = lines.filter(({ isPeer, gain }) => isPeer && gain !== null)
  const all = compared.length
  const [things, places] = isOfPools
    ? ['pools', { ahead: 'ahead of', level: 'level with', behind: 'behind' }]
    : ['rows', { ahead: 'ahead in', level: 'level in', behind: 'behind in' }]
  const counts = Object.keys(places)
    .map(verdict => [verdict, compared.filter(({ gain }) => verdictOf(gain) === verdict).length])
    .filter(([, count]) => count > 0)
  if (all === 1) return `lido is ${places[counts[0][0]]} ${compared[0].label}.`
  if (counts.length === 1)
    return `lido is ${places[counts[0][0]]} ${all === 2 ? 'both' : `all ${all}`} ${things}.`
  const parts = counts.map(([verdict, count]) => `${places[verdict]} ${count}`)
  return `Of ${all} ${things}, lido is ${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}.`
}
