// The only place a caller's promise is settled.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTask } from '../../testing/stand-ins.js'
import { Settler } from './settle.js'
import { moveTask } from './task-life.js'

function setUp() {
  const told: string[] = []
  const task = makeTask(1, {
    resolve: value => told.push(`resolved ${String(value)}`),
    reject: reason => told.push(`rejected ${String(reason)}`),
  })
  const settler = new Settler({
    onSettled: (_task, outcome, wasAssigned) => told.push(`told ${outcome} ${wasAssigned}`),
  })
  return { told, task, settler }
}

test('each way settles the task and tells of it, once', () => {
  for (const [way, expected] of [
    ['fulfil', ['told fulfilled false', 'resolved x']],
    ['reject', ['told rejected false', 'rejected x']],
    ['cancel', ['told cancelled false', 'rejected x']],
  ] as const) {
    const { told, task, settler } = setUp()
    settler[way](task, 'x')
    assert.equal(task.state, 'settled')
    assert.deepEqual(told, expected)
  }
})

test('whether a worker had it is told', () => {
  const { told, task, settler } = setUp()
  moveTask(task, 'assigned')
  settler.fulfil(task, 1)
  assert.equal(told[0], 'told fulfilled true')
})

test('a second answer is our own bug, and reaches no caller', () => {
  const { told, task, settler } = setUp()
  settler.fulfil(task, 1)
  for (const way of ['fulfil', 'reject', 'cancel'] as const)
    assert.throws(() => settler[way](task, 2), /invariant/)
  assert.deepEqual(told, ['told fulfilled false', 'resolved 1'])
})
