// Keeps its thread busy without loading modules or allocating memory, so that the pool alone uses the worker's memory.
import { threadId } from 'node:worker_threads'

export default function busy(rounds) {
  let state = 1
  for (let round = 0; round < rounds; round += 1) state = Math.imul(state ^ round, 1_664_525)
  return { state, threadId }
}
