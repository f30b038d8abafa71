// Decodes the bytes of a body to text, and parses text to JSON values. Uses the error messages of body-parser.
import { createRequire } from 'node:module'
import type { ParsePlan } from './parse-plan.js'

export type Reviver = (this: unknown, key: string, value: unknown) => unknown

/** The part of iconv-lite that body-parser uses. */
interface Charsets {
  decode(bytes: Buffer, charset: string): string
}

const BYTE_ORDER_MARK = 0xfeff
const whitespace = /^[ \t\n\r]*/
/** A character that starts no JSON value. */
const INVALID = '#'

/** Stops parsing for a reason that is not a syntax error. The handlers of syntax errors rethrow it. */
export class Interruption {
  /** What the reviver threw. `null`: the text nests too deep. */
  readonly thrown: { readonly value: unknown } | null

  constructor(thrown: Interruption['thrown']) {
    this.thrown = thrown
  }
}

export class LineError extends SyntaxError {
  /** Counted from 1. */
  readonly line: number

  constructor(line: number, message: string) {
    super(`Line ${line}: ${message}`)
    this.line = line
  }
}

/** Decodes the bytes and removes the byte order mark. */
export function textOf(bytes: Uint8Array, charset: string, charsets: string | null): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (charset === 'utf-8' || charset === 'utf8' || charsets === null) return withoutMark(buffer.toString())
  const { decode } = createRequire(charsets)(charsets) as Charsets
  return decode(buffer, charset)
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}

/** Turns what the reviver throws into an `Interruption`. */
export function interrupting(revive: Reviver): Reviver {
  return function (this: unknown, ...call) {
    try {
      return Reflect.apply(revive, this, call)
    } catch (value) {
      throw new Interruption({ value })
    }
  }
}

/** Throws a `SyntaxError`. */
export function parseJson(
  text: string,
  { isStrict, isEmptyObject }: Pick<ParsePlan, 'isStrict' | 'isEmptyObject'>,
  reviver: Reviver | null,
): unknown {
  if (text.length === 0 && isEmptyObject) return {}
  if (isStrict) refuseBareValue(text)
  return JSON.parse(text, reviver ?? undefined)
}

/**
 * Parses one JSON value per line. Blank lines count for line numbers but have no value. Returns `null` when there are
 * more than `maxLines` values. Throws a `LineError` for an error of `parse`, and rethrows an `Interruption`.
 */
export function parseLines(
  text: string,
  maxLines: number,
  parse: (line: string) => unknown,
): unknown[] | null {
  const values: unknown[] = []
  let line = 0
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start)
    const end = found < 0 ? text.length : found
    // The CR of a CRLF is white space to the parser.
    const content = text.slice(start, end)
    start = end + 1
    line++
    if (isBlank(content)) continue
    if (values.length === maxLines) return null
    try {
      values.push(parse(content))
    } catch (problem) {
      if (problem instanceof Interruption) throw problem
      throw new LineError(line, problem instanceof Error ? problem.message : String(problem))
    }
  }
  return values
}

function isBlank(text: string): boolean {
  return whitespace.exec(text)![0].length === text.length
}

function refuseBareValue(text: string): void {
  const start = whitespace.exec(text)![0].length
  const first = text[start]
  if (first !== '{' && first !== '[') throw new SyntaxError(syntaxMessage(text, start))
}

/**
 * The message of `JSON.parse()` for a text that is invalid from `start` on. The function replaces the rest of the text
 * with invalid characters, and puts the original text back into the message.
 */
function syntaxMessage(text: string, start: number): string {
  const isAllBlank = start === text.length
  const masked = isAllBlank ? '' : text.slice(0, start) + INVALID.repeat(text.length - start)
  try {
    JSON.parse(masked)
  } catch (problem) {
    const { message } = problem as SyntaxError
    return message.replace(/#+/g, run => (isAllBlank ? run : text.slice(start, start + run.length)))
  }
  return 'Only an object or an array is accepted'
}
