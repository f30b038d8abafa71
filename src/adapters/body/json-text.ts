// One JSON text to its value, with the words that body-parser has for what is wrong with it.
import type { Plan } from './plan.js'

export type Reviver = (this: unknown, key: string, value: unknown) => unknown

type Strictness = Pick<Plan, 'isStrict' | 'isEmptyObject'>

/** A character that begins no JSON value, so that the parser stumbles over it. */
const STUMBLE = '#'
const whitespace = /^[ \t\n\r]*/

export function isBlank(text: string): boolean {
  return whitespace.exec(text)![0].length === text.length
}

/** Throws a `SyntaxError`. */
export function parseBody(
  text: string,
  { isStrict, isEmptyObject }: Strictness,
  reviver: Reviver | null,
): unknown {
  if (text.length === 0 && isEmptyObject) return {}
  if (isStrict) refuseBareValue(text)
  return JSON.parse(text, reviver ?? undefined)
}

function refuseBareValue(text: string): void {
  const start = whitespace.exec(text)![0].length
  const first = text[start]
  if (first !== '{' && first !== '[') throw new SyntaxError(complaintAbout(text, start))
}

/**
 * What the parser would say if it stumbled at `start`, over what stands there: all from there on is made something that it
 * stumbles over, and its words are given the true text again.
 */
function complaintAbout(text: string, start: number): string {
  const isAllBlank = start === text.length
  const masked = isAllBlank ? '' : text.slice(0, start) + STUMBLE.repeat(text.length - start)
  try {
    JSON.parse(masked)
  } catch (problem) {
    const { message } = problem as SyntaxError
    return message.replace(/#+/g, run => (isAllBlank ? run : text.slice(start, start + run.length)))
  }
  return 'Only an object or an array is accepted'
}
