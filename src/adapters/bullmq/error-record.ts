// Checks what `serializeError()` made before `deserializeError()` reads it: another program may have written it. With other indexes and
// names, `deserializeError()` would write to objects outside the copies. With shared lists, its work would grow by their product.
import type { SerializedError } from '../../kit.js'

type Fields = Record<string, unknown>
type Copies = readonly unknown[]

/** `serializeError()` writes at most as many. */
const MOST_ERRORS = 1000
/** Longer chains of classes do not occur. */
const MOST_CLASSES = 100

export function isErrorRecord(given: unknown): given is SerializedError {
  if (!isPlain(given)) return false
  const { copies, links, errors } = given
  if (!isDenseArray(copies) || !isDenseArray(links) || !isDenseArray(errors)) return false
  return (
    errors.length <= MOST_ERRORS &&
    isPlain(copies[0]) &&
    Object.hasOwn(copies[0], 'thrown') &&
    areDistinct(copies.filter(copy => Object(copy) === copy)) &&
    areDistinct(errors.map(record => (isPlain(record) ? record.index : null))) &&
    links.every(link => isLink(link, copies)) &&
    errors.every(record => isRecord(record, copies))
  )
}

function isLink(given: unknown, copies: Copies): boolean {
  if (!Array.isArray(given) || given.length !== 3) return false
  const [owner, field, target] = given as unknown[]
  if (!isIndex(owner, copies) || !isText(field) || !(isText(target) || isIndex(target, copies))) return false
  const copy = copies[owner]
  // A text may have replaced the copy.
  if (isText(copy)) return true
  // The length of an array is its own field, too.
  if (Array.isArray(copy) && field === 'length') return false
  return (isPlain(copy) || Array.isArray(copy)) && Object.hasOwn(copy, field)
}

function isRecord(given: unknown, copies: Copies): boolean {
  if (!isPlain(given)) return false
  const { index, classes, name, message, stack, hidden } = given
  if (!isIndex(index, copies) || ![name, message, stack].every(isText)) return false
  const copy = copies[index]
  if (!isPlain(copy)) return false
  return areTexts(classes, MOST_CLASSES) && areTexts(hidden, Object.keys(copy).length)
}

function isIndex(given: unknown, copies: Copies): given is number {
  return Number.isInteger(given) && Object.hasOwn(copies, given as number)
}

/** Many records may share a list, so its length comes first. */
function areTexts(given: unknown, most: number): boolean {
  return Array.isArray(given) && given.length <= most && isDenseArray(given) && given.every(isText)
}

function isText(given: unknown): given is string {
  return typeof given === 'string'
}

/** An array of 20 bytes may claim four billion elements. `every()` asks for each of them. */
function isDenseArray(given: unknown): given is unknown[] {
  return Array.isArray(given) && Object.keys(given).length === given.length
}

/** `serializeError()` copies each object once. */
function areDistinct(given: readonly unknown[]): boolean {
  return new Set(given).size === given.length
}

function isPlain(given: unknown): given is Fields {
  if (given === null || typeof given !== 'object') return false
  const prototype = Object.getPrototypeOf(given)
  return prototype === Object.prototype || prototype === null
}
