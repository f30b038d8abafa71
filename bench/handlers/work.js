// The handler with something to do. A payload says what:
//   { words }           from now on count finished bursts in these shared words
//   { hold: true }      sleep until somebody changes the second word: a worker that is busy and costs no CPU
//   { loops, times }    burn so many rounds, so many times; gives the last burst's number and the thread
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
