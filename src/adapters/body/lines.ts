// A text of many JSON values, one on each line, to the array of them. Blank lines count as lines and hold no value.
import { Interruption } from './interruption.js'
import { isBlank } from './json-text.js'

export class LineError extends SyntaxError {
  /** Counted from 1. */
  readonly line: number

  constructor(line: number, message: string) {
    super(`Line ${line}: ${message}`)
    this.line = line
  }
}

/** Returns `null` when there are more than `maxLines` values. Throws a `LineError` for what `parse` throws, but for an `Interruption`. */
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
    // What is left of a line that ended with CRLF is white space to the parser.
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
