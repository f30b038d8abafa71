// The handlers of the real-work trial: one that is plain JavaScript, one that allocates much, and one that runs native threads.
import { marked } from 'marked'
import sharp from 'sharp'

/** The number of edits between two texts. */
export function levenshtein({ left, right }) {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= right.length; j += 1) {
      const replaced = row[j - 1] + (left[i - 1] === right[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1))
    }
    row = next
  }
  return row[right.length]
}

/** The length of the page. */
export function markdown({ source }) {
  return marked.parse(source).length
}

/** The width of the thumbnail. */
export async function thumbnail({ width, height }) {
  const image = sharp({ create: { width, height, channels: 3, background: '#4a6' } })
  const { info } = await image.resize(200).jpeg().toBuffer({ resolveWithObject: true })
  return info.width
}
