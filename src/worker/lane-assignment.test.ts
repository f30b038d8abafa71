import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isShapeKept } from '../testing/same-shape.js'
import { realClock } from './clock.js'
import type { LaneAnswers } from './lane-answers.js'
import { LaneAssignment } from './lane-assignment.js'
import { MeasuredAssignment } from './measured-assignment.js'

test('tasks are of the kinds that stay, measured or not, from the first state to the last', () => {
  const handler = { filename: 'file:///handler.js', name: 'default' }
  const answers = { succeed: () => {} } as unknown as LaneAnswers
  for (const payload of [1, 1.5, 'text', { a: 1 }, undefined]) {
    const task = new LaneAssignment(1, 2, 3, handler, payload, performance.now(), answers)
    const measured = new MeasuredAssignment(task, () => {}, realClock.onCore(), 2.5)
    if (payload !== 1) measured.onPending()
    assert.ok(isShapeKept(task) && isShapeKept(measured), 'running')
    measured.succeed(payload)
    task.state = 'answered'
    assert.ok(isShapeKept(task) && isShapeKept(measured), 'answered')
  }
})
