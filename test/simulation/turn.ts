// Waits for the end of a turn: all microtasks have run, and unhandled rejections are reported. Both happen between two immediates
// of the same round of the event loop, so one round contains several turns. A round for each turn would be slow.
import assert from 'node:assert/strict'

const { setImmediate } = globalThis

const TURNS_OF_ROUND = 32

let left = 0
let resume: (() => void) | null = null

/** Only one caller may wait at a time. */
export function nextTurn(): Promise<void> {
  assert.equal(resume, null, 'only one caller may wait at a time')
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
