// The handler of the stream trial: gives buffers of one size. Each has its number in its first byte.
export default function* ({ count, bytes }) {
  for (let number = 0; number < count; number += 1) yield new Uint8Array(bytes).fill(number, 0, 1)
}
