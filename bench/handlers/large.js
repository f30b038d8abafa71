// Returns a large value. The first call creates the value, so that later calls measure only its transfer.
import { largeValues } from '../large-values.js'

const made = new Map()

export default function large({ kind, bytes }) {
  const key = `${kind} ${bytes}`
  if (!made.has(key)) made.set(key, largeValues[kind].create(bytes))
  return made.get(key)
}
