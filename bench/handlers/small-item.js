// The handler of bar P15b. A payload from 0 on runs for about 1 µs in JavaScript, because a call into native code takes longer, and returns
// the payload. A payload below 0 burns so many rounds, and returns the thread and the time of the end.
import { threadId } from 'node:worker_threads'
import { burn } from '../work.js'

const rounds = 900

export default function item(payload) {
  if (payload < 0) {
    burn(-payload)
    return { threadId, endedAt: performance.timeOrigin + performance.now() }
  }
  let state = payload
  for (let round = 0; round < rounds; round += 1) state = (Math.imul(state, 31) + round) | 0
  // The result depends on all rounds.
  return state === 0.5 ? state : payload
}
