// Gives a large value, made at the first call for it: what is measured is how it arrives.
import { largeValues } from '../large-values.js'

const made = new Map()

export default function large({ kind, bytes }) {
  const key = `${kind} ${bytes}`
  if (!made.has(key)) made.set(key, largeValues[kind].create(bytes))
  return made.get(key)
}
