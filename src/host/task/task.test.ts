import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isShapeKept } from '../../testing/same-shape.js'
import type { CallTerms } from './call.js'
import { Task } from './task.js'
import { moveTask } from './task-life.js'

const terms = { retry: null } as CallTerms

for (const payload of [1, 1.5, 'text', { a: 1 }, undefined]) {
  test(`a task with ${JSON.stringify(payload)} is of the kind that stays, from its first state to its last`, () => {
    const task = new Task(7, { payload, terms }, 1, performance.now(), () => {})
    assert.ok(isShapeKept(task), 'queued')
    moveTask(task, 'assigned')
    task.holder = { id: 1 }
    task.slot = 3
    task.ordinal = 2
    task.assignedAt = performance.now()
    assert.ok(isShapeKept(task), 'assigned')
    moveTask(task, 'settled')
    assert.ok(isShapeKept(task), 'settled')
  })
}

test('what nobody keeps is told from what somebody does', () => {
  assert.equal(isShapeKept({ id: 1, terms }), false)
})
