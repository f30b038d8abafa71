// A handler that computes. The payload selects the work:
//   { words }           counts finished bursts in the first of these shared words, in this call and all later calls
//   { hold: true }      blocks until the second word changes, so that the worker is busy without using the CPU
//   { loops, times }    burns `times` bursts of `loops` rounds; returns the last state and the thread
import { threadId } from 'node:worker_threads'
import { burn } from '../work.js'

let words = new Int32Array(2)

export default function work({ words: given, hold, loops, times }) {
  if (given !== undefined) {
    words = given
    return null
  }
  if (hold) {
    Atomics.wait(words, 1, 0)
    return null
  }
  let state = 0
  for (let i = 0; i < times; i += 1) {
    state = burn(loops)
    Atomics.add(words, 0, 1)
  }
  return { state, threadId }
}
