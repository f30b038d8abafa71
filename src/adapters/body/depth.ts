// Compares the nesting depth of a body with a limit. Counting the brackets of the text costs a tenth of parsing it.
// For invalid JSON the result has no meaning: the parser refuses it afterwards.

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Brackets and braces differ in one bit. */
const BRACE_BIT = 0x20
const OPENING = 0x7b
const CLOSING = 0x7d

export function isTextDeeper(most: number, text: string): boolean {
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

/** For the value of a user's function, which may hold an object twice or be circular. Each object counts once. */
export function isGraphDeeper(most: number, value: unknown, seen = new Set<object>()): boolean {
  if (value === null || typeof value !== 'object' || seen.has(value)) return false
  if (most === 0) return true
  seen.add(value)
  if (ArrayBuffer.isView(value)) return false
  const isList = Array.isArray(value) || value instanceof Set
  const parts = value instanceof Map ? [...value].flat() : isList ? value : Object.values(value)
  for (const part of parts) if (isGraphDeeper(most - 1, part, seen)) return true
  return false
}

/** For a parsed value, which is a tree. */
export function isValueDeeper(most: number, value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false
  if (most === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) if (isValueDeeper(most - 1, item)) return true
    return false
  }
  for (const key in value) {
    if (isValueDeeper(most - 1, (value as Record<string, unknown>)[key])) return true
  }
  return false
}
