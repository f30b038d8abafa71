// Changes a file that needs decisions of a person. The file imports the door of lido that has the API of its library, such as
// `lido/piscina`, so it works as before. A comment stands above each place that a person must decide.
import MagicString from 'magic-string'
import { isString } from './source.js'

const mark = '// TODO(lido): '
const wholeLine = /^[ \t]*\/\/ TODO\(lido\): .*(\r?\n|$)/gm
const mostCharacters = 160
/** Nodes that may have a comment on the line before them. */
const ownLine =
  /(Statement|Declaration)$|^Class(Private)?(Method|Property)$|^Object(Property|Method)$|^SpreadElement$/

/** The name of the module that has the API of a library. */
export function doorOf(library) {
  return `lido/${library}`
}

/** True for a comment that an earlier run of the command wrote. */
export function isTodo({ type, value }) {
  return type === 'CommentLine' && `//${value}`.startsWith(mark)
}

/** The text without the comments of an earlier run. */
export function withoutTodos(text) {
  return text.replaceAll(wholeLine, '')
}

/**
 * The text of the partial change.
 * @param specifiers the texts in the file that name a library: `{ node, library }`
 * @param decisions `{ start, text }` for each comment
 */
export function writePartial(source, specifiers, decisions) {
  const edits = new MagicString(source.text)
  for (const comment of source.comments.filter(isTodo)) {
    const [start, end] = linesOf(source.text, comment)
    if (source.text.slice(start, comment.start).trim() === '') edits.remove(start, end)
  }
  for (const { node, library } of specifiers) {
    const quote = isString(node) ? 1 : 0
    edits.overwrite(node.start + quote, node.end - quote, doorOf(library))
  }
  for (const { start, text } of inOrder(decisions)) {
    const place = placeFor(source, start)
    const line = lineStart(source.text, place)
    const indent = source.text.slice(line, place)
    edits.appendRight(line, `${indent}${mark}${shortened(text)}${source.eol}`)
  }
  return edits.toString()
}

function inOrder(decisions) {
  const texts = new Set()
  const isNew = ({ start, text }) => !texts.has(`${start} ${text}`) && texts.add(`${start} ${text}`)
  return decisions.filter(isNew).sort((one, other) => one.start - other.start)
}

/** The start of the innermost statement, member or property around a place that begins a line. There a comment changes nothing. */
function placeFor(source, start) {
  const candidates = source.nodes.filter(node => ownLine.test(node.type) && beginsLine(source.text, node))
  const around = candidates.filter(node => node.start <= start && start < node.end)
  const onLine = candidates.find(node => lineStart(source.text, node.start) === lineStart(source.text, start))
  const [first] = candidates
  const place = around.sort((one, other) => other.start - one.start)[0] ?? onLine ?? first
  return place?.start ?? source.text.length
}

function beginsLine(text, { start }) {
  return text.slice(lineStart(text, start), start).trim() === ''
}

function lineStart(text, position) {
  const start = text.lastIndexOf('\n', position - 1) + 1
  return start === 0 && text.startsWith('\uFEFF') ? 1 : start
}

function linesOf(text, { start, end }) {
  const next = text.indexOf('\n', end)
  return [lineStart(text, start), next === -1 ? text.length : next + 1]
}

function shortened(text) {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters - 1)}…` : text
}
