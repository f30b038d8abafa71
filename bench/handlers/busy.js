// Keeps its thread busy for so many rounds of a loop, and loads and makes nothing for it: what an idle worker holds is the pool's.
import { threadId } from 'node:worker_threads'

export default function busy(rounds) {
  let state = 1
  for (let round = 0; round < rounds; round += 1) state = Math.imul(state ^ round, 1_664_525)
  return { state, threadId }
}
