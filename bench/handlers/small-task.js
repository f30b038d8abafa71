// A task of a known length. The payload is a time in ms, by the clock, or `{ loops }`: a number of rounds, which counts CPU time.
import { burn } from '../work.js'

export default function smallTask(length) {
  if (typeof length !== 'number') return burn(length.loops)
  const end = performance.now() + length
  while (performance.now() < end);
  return length
}
