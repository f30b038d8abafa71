// From bytes to text, without its byte order mark.
import { createRequire } from 'node:module'

/** What body-parser decodes with; it comes with it. */
interface Charsets {
  decode(bytes: Buffer, charset: string): string
}

const BYTE_ORDER_MARK = 0xfeff

export function textOf(bytes: Uint8Array, charset: string, charsets: string | null): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (charset === 'utf-8' || charset === 'utf8' || charsets === null) return withoutMark(buffer.toString())
  const { decode } = createRequire(charsets)(charsets) as Charsets
  return decode(buffer, charset)
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}
