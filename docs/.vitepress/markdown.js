// Additions to markdown-it: pictures and checkboxes as on GitHub, colours in tables of marks, and links between the reference and the
// types.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileOfEnvironment } from './links.js'
import { doorsOf, referenceOf, root, titleOf } from './pages.js'

const marks = { '✓': 'yes', '◐': 'partly', '✗': 'no' }

/** Puts SVG pictures into the page itself, so that they follow the colours of the site. */
export function inlinePictures(md) {
  const renderImage = md.renderer.rules.image
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const source = tokens[index].attrGet('src')
    if (!/^[^/:]+(\/[^/:]+)*\.svg$/.test(source)) return renderImage(tokens, index, options, env, self)
    const file = join(root, dirname(fileOfEnvironment(env)), source)
    const svg = readFileSync(file, 'utf8').replace(/<style>.*?<\/style>/s, '')
    const alt = md.utils.escapeHtml(tokens[index].content)
    return `<span class="picture" role="img" aria-label="${alt}" v-pre>${svg.trim()}</span>`
  }
}

/** Makes a checkbox of `[ ]` at the start of a list item. */
export function checkboxes(md) {
  md.core.ruler.push('checkboxes', ({ tokens, Token }) => {
    for (const [index, { type, children }] of tokens.entries()) {
      const isInItem = type === 'inline' && tokens[index - 2]?.type === 'list_item_open'
      if (!isInItem || !children[0]?.content.startsWith('[ ] ')) continue
      children[0].content = children[0].content.slice(4)
      const box = new Token('html_inline', '', 0)
      box.content = '<input type="checkbox" aria-label="done"> '
      children.unshift(box)
      tokens[index - 2].attrJoin('class', 'check')
    }
  })
}

/** Gives a table with cells such as `✓ yes` classes for its colours. Its first column names the rows, and stays when it scrolls. */
export function tablesOfMarks(md) {
  // The rule of VitePress for tables drops their attributes.
  md.renderer.rules.table_open = (tokens, index, options, _env, self) => {
    tokens[index].attrSet('tabindex', '0')
    return self.renderToken(tokens, index, options)
  }
  md.core.ruler.push('tables-of-marks', ({ tokens, Token }) => {
    let table
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'table_open') table = { open: token, firstCells: [], hasMarks: false }
      if (token.type === 'td_open' && tokens[index - 1].type === 'tr_open') {
        table.firstCells.push(token, tokens[index + 2])
      }
      if (token.type === 'td_open' && markCell(token, tokens[index + 1].children, Token))
        table.hasMarks = true
      if (token.type === 'table_close' && table.hasMarks) nameRows(table)
    }
  })
}

/** A screen reader reads the word of a mark only. */
function markCell(cell, children, Token) {
  const text = children.find(({ type }) => type === 'text')
  const [, sign] = /^([✓◐✗]) /.exec(text?.content ?? '') ?? []
  if (sign === undefined) return false
  cell.attrJoin('class', marks[sign])
  text.content = text.content.slice(sign.length)
  const hidden = new Token('html_inline', '', 0)
  hidden.content = `<span aria-hidden="true">${sign}</span>`
  children.splice(children.indexOf(text), 0, hidden)
  return true
}

function nameRows({ open, firstCells }) {
  open.attrJoin('class', 'marks')
  for (const cell of firstCells) {
    cell.tag = 'th'
    if (cell.nesting === 1) cell.attrSet('scope', 'row')
  }
}

/** Puts links below the title: from a page of the reference to the types of its module, and from these types to the reference. */
export function linksOfTypes(md) {
  md.core.ruler.before('normalize', 'links-of-types', state => {
    const page = /^docs\/(.*)$/.exec(fileOfEnvironment(state.env))?.[1] ?? ''
    const types = doorsOf(page).map(door => `[${door}](/types/${door}/index.md)`)
    const reference = referenceOf(page).map(page => `[${titleOf(page)}](/${page})`)
    const links = [...types, ...reference].join(', ')
    if (links === '') return
    const line =
      types.length > 0 ? `Types: ${links}` : `These types are read from the code. Reference: ${links}`
    state.src = state.src.replace(
      /^# .+$/m,
      title => `${title}\n\n<div class="of-types">\n\n${line}\n\n</div>\n`,
    )
  })
}
