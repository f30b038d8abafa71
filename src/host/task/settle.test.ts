import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTask } from '../../testing/stand-ins.js'
import { Settler } from './settle.js'
import type { Task } from './task.js'
import { TaskEnds } from './task-ends.js'
import { moveTask } from './task-life.js'
import { TracedTasks } from './traced-tasks.js'

function setUp() {
  const told: string[] = []
  const task = makeTask(1, {
    resolve: value => told.push(`resolved ${String(value)}`),
    reject: reason => told.push(`rejected ${String(reason)}`),
  })
  const listener = {
    onSettled: (_task: Task, outcome: string, wasAssigned: boolean) =>
      told.push(`told ${outcome} ${wasAssigned}`),
  }
  const settler = new Settler(listener, new TracedTasks({ id: 1, label: 'pool' }), new TaskEnds())
  return { told, task, settler }
}

test('fulfil(), reject() and cancel() settle the task and call the listener once', () => {
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

test('the listener learns that a worker had the task', () => {
  const { told, task, settler } = setUp()
  moveTask(task, 'assigned')
  settler.fulfil(task, 1)
  assert.equal(told[0], 'told fulfilled true')
})

test('a second answer throws an invariant error and does not reach the caller', () => {
  const { told, task, settler } = setUp()
  settler.fulfil(task, 1)
  for (const way of ['fulfil', 'reject', 'cancel'] as const)
    assert.throws(() => settler[way](task, 2), /invariant/)
  assert.deepEqual(told, ['told fulfilled false', 'resolved 1'])
})
