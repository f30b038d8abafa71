// When a worker says that it holds too much.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Limits } from './limits.js'

test('it says so once for the tasks that began together, and again when it has gone on', async t => {
  // The look keeps no process alive.
  const alive = setInterval(() => {}, 1000)
  t.after(() => clearInterval(alive))
  let heard = () => {}
  let told = 0
  const onHeavy = () => {
    told++
    heard()
  }
  const limits = new Limits({ tasks: Number.POSITIVE_INFINITY, bytes: 1 }, assert.fail, onHeavy)
  for (let round = 1; round <= 2; round++) {
    const heavy = new Promise<void>(resolve => {
      heard = resolve
    })
    limits.onBegin()
    limits.onBegin()
    await heavy
    await new Promise(setImmediate)
    assert.equal(told, round)
  }
})
