// The end of a turn: all microtasks have run, and rejections that nobody handled are told. Several turns fit into one round of the
// event loop, which does both between any two of its immediates; a round for each would cost more than what happens in it.
import assert from 'node:assert/strict'

const { setImmediate } = globalThis

const TURNS_OF_ROUND = 32

let left = 0
let resume: (() => void) | null = null

/** Of one waiter at a time. */
export function nextTurn(): Promise<void> {
  assert.equal(resume, null, 'somebody waits already')
  if (left === 0) {
    left = TURNS_OF_ROUND
    for (let count = 0; count < TURNS_OF_ROUND; count++) setImmediate(endTurn)
  }
  return new Promise(resolve => {
    resume = resolve
  })
}

function endTurn(): void {
  left--
  const resolve = resume
  resume = null
  resolve?.()
}
