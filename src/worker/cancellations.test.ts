import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cancellations } from './cancellations.js'

test('a signal tells why, whether it was asked for before its task was cancelled or after', () => {
  const cancellations = new Cancellations()
  const early = cancellations.signalOf(1)
  assert.deepEqual([early.aborted, cancellations.signalOf(1) === early], [false, true])
  for (const taskId of [1, 2]) cancellations.cancel(taskId, `why ${taskId}`)
  for (const taskId of [1, 2, 3]) {
    const { aborted, reason } = cancellations.signalOf(taskId)
    assert.deepEqual([aborted, reason], taskId === 3 ? [false, undefined] : [true, `why ${taskId}`])
    assert.equal(cancellations.isCancelled(taskId), aborted)
  }
  assert.equal(early.reason, 'why 1')
})
