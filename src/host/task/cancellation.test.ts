// One listener a signal, however many tasks share it.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { ManualClock } from '../../testing/manual-clock.js'
import { makeTask } from '../../testing/stand-ins.js'
import { Cancellation, type CancellationParts } from './cancellation.js'
import type { Task } from './task.js'

function cancellationThat(cancel: CancellationParts['cancel']): Cancellation {
  return new Cancellation({ clock: new ManualClock(), progressOf: () => 'waiting', cancel })
}

function setUp(count: number) {
  const controller = new AbortController()
  const { signal } = controller
  const cancelled: [number, unknown][] = []
  const cancellation = cancellationThat((task, error) => {
    cancelled.push([task.id, error.reason])
    cancellation.release(task)
  })
  const tasks = Array.from({ length: count }, (_, index) => makeTask(index + 1, { signal }))
  for (const task of tasks) cancellation.watch(task)
  return {
    controller,
    cancellation,
    cancelled,
    tasks,
    listeners: () => getEventListeners(signal, 'abort').length,
  }
}

test('a thousand tasks with one signal have one listener, gone with the last of them', () => {
  const { cancellation, tasks, listeners } = setUp(1000)
  assert.equal(listeners(), 1)
  for (const task of tasks.slice(1)) cancellation.release(task)
  assert.equal(listeners(), 1)
  cancellation.release(tasks[0]!)
  assert.equal(listeners(), 0)
})

test('an abort cancels every task that is watched, in order and once, with the reason', () => {
  const { controller, cancellation, cancelled, tasks, listeners } = setUp(4)
  cancellation.release(tasks[1]!)
  controller.abort('enough')
  assert.deepEqual(cancelled, [
    [1, 'enough'],
    [3, 'enough'],
    [4, 'enough'],
  ])
  assert.equal(listeners(), 0)
})

test('a task that is settled by the cancelling of another is not cancelled', () => {
  const controller = new AbortController()
  const cancelled: number[] = []
  const tasks: Task[] = [1, 2, 3].map(id => makeTask(id, { signal: controller.signal }))
  const cancellation = cancellationThat(task => {
    cancelled.push(task.id)
    cancellation.release(task)
    cancellation.release(tasks[2]!)
  })
  for (const task of tasks) cancellation.watch(task)
  controller.abort()
  assert.deepEqual(cancelled, [1, 2])
})

test('tasks without a signal are no concern, and releasing twice is none', () => {
  const { cancellation, tasks, listeners } = setUp(1)
  const plain = makeTask(9)
  cancellation.watch(plain)
  cancellation.release(plain)
  cancellation.release(tasks[0]!)
  cancellation.release(tasks[0]!)
  assert.equal(listeners(), 0)
})
