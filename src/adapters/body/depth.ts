// How deep a JSON text nests, read off its brackets before it is parsed. A text that is no JSON gives some number: the
// parser will say what is wrong with it.

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Brackets and braces differ in one bit. */
const BRACE_BIT = 0x20
const OPENING = 0x7b
const CLOSING = 0x7d

export function isDeeperThan(most: number, text: string): boolean {
  const { length } = text
  // Every level needs two characters.
  if (length / 2 <= most) return false
  let depth = 0
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if ((code | BRACE_BIT) === OPENING) {
      if (++depth > most) return true
    } else if ((code | BRACE_BIT) === CLOSING) depth--
  }
  return false
}

function endOfString(text: string, start: number): number {
  const { length } = text
  let at = start + 1
  for (; at < length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return at
}
