// Runs the demo and draws its output as a terminal: docs/pictures/demo.svg, the picture of README.md.
//   npm run docs:picture                 the whole demo, a minute
//   npm run docs:picture -- --small      a quick look, with rough figures
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pages.js'

const columns = 80
const cell = { width: 8.4, height: 19 }
const margin = { left: 18, top: 46, bottom: 14 }
const colors = { back: '#1b1f24', plain: '#d5dae0', faint: '#8b949e', bright: '#ffffff', accent: '#5fd3a6' }
/** For each character of a table: does a line lead to the left, right, up, down? */
const strokes = {
  '─': 'lr',
  '│': 'ud',
  '┌': 'rd',
  '┐': 'ld',
  '└': 'ru',
  '┘': 'lu',
  '├': 'rud',
  '┤': 'lud',
  '┬': 'lrd',
  '┴': 'lru',
  '┼': 'lrud',
}

const extra = process.argv.slice(2)
const command = ['npm run demo', ...(extra.length === 0 ? [] : ['--', ...extra])].join(' ')
const output = execFileSync(process.execPath, ['examples/csv/main.js', ...extra], {
  cwd: root,
  env: { ...process.env, NO_COLOR: '1' },
  stdio: ['ignore', 'pipe', 'inherit'],
}).toString()
process.stdout.write(output)
const lines = [`$ ${command}`, ...output.trimEnd().split('\n').flatMap(wrap)]
writeFileSync(join(root, 'docs', 'pictures', 'demo.svg'), drawTerminal(lines))

/** Breaks a line between words. */
function wrap(line) {
  const wrapped = ['']
  for (const word of line.split(/(?<= )/)) {
    if ((wrapped.at(-1) + word.trimEnd()).length > columns) wrapped.push('')
    wrapped.push(wrapped.pop() + word)
  }
  return wrapped
}

function drawTerminal(lines) {
  const width = Math.round(columns * cell.width + 2 * margin.left)
  const height = margin.top + lines.length * cell.height + margin.bottom
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${colors.plain}">
<rect width="${width}" height="${height}" rx="8" fill="${colors.back}"/>
${['#ff5f57', '#febc2e', '#28c840'].map((color, index) => `<circle cx="${22 + index * 20}" cy="20" r="6" fill="${color}"/>`).join('')}
${lines.map(drawLine).join('\n')}
<path d="${lines.flatMap(drawStrokes).join('')}" fill="none" stroke="${colors.faint}"/>
</svg>
`
}

/** Each group of words has the width that it has in a terminal, whatever the font is. */
function drawLine(line, row) {
  return [...line.matchAll(/[^─│┌┐└┘├┤┬┴┼\s]+(?: [^─│┌┐└┘├┤┬┴┼\s]+)*/g)]
    .map(({ 0: words, index }) => {
      const x = round(margin.left + index * cell.width)
      const y = margin.top + row * cell.height + 14
      const length = round(words.length * cell.width)
      return `<text x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${styleOf(line)}>${escapeXml(words)}</text>`
    })
    .join('')
}

function styleOf(line) {
  if (line.startsWith('$')) return ` fill="${colors.bright}" font-weight="bold"`
  if (line.startsWith('node v')) return ` fill="${colors.faint}"`
  if (/^(=>|Same result)|│ pool/.test(line)) return ` fill="${colors.accent}"`
  return ''
}

function drawStrokes(line, row) {
  const y = margin.top + (row + 0.5) * cell.height
  return [...line.matchAll(/─+|[│┌┐└┘├┤┬┴┼]/g)].map(({ 0: characters, index }) => {
    const left = round(margin.left + index * cell.width)
    const right = round(left + characters.length * cell.width)
    const x = round((left + right) / 2)
    const ends = { l: `H${left}`, r: `H${right}`, u: `V${y - cell.height / 2}`, d: `V${y + cell.height / 2}` }
    return [...strokes[characters[0]]].map(way => `M${x} ${y}${ends[way]}`).join('')
  })
}

function round(number) {
  return Math.round(number * 10) / 10
}

function escapeXml(words) {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
