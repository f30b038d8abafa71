// Adapters that use nothing but the entry points `lido`, `lido/worker` and `lido/kit`.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { adaptQueue, createPool, Problems, runWrapped, TaskViews } from 'lido/kit'
import { openFolder } from '../helpers/folder.js'
import { rejection } from '../helpers/rejection.js'

const work = `
  import { workerData } from 'lido/worker'
  export default value => value
  export const number = () => workerData.workerId
  export const wait = () => new Promise(resolve => setTimeout(resolve, 20))
`

class Stack {
  #views

  constructor(views) {
    this.#views = views
  }

  size() {
    return this.#views.length
  }

  push(view) {
    this.#views.push(view)
  }

  take() {
    return this.#views.pop()
  }

  remove(view) {
    this.#views.splice(this.#views.indexOf(view), 1)
  }
}

/** A pool that runs the last call first, and whose workers know their numbers. */
function createStackPool(filename, stack, options) {
  const views = new TaskViews(task => ({ payload: task.payload }))
  const adaptStart = (workerOptions, workerId) => ({ ...workerOptions, workerData: { workerId } })
  return createPool({ filename, queue: adaptQueue(new Stack(stack), views), ...options }, adaptStart)
}

for (const backend of ['thread', 'process']) {
  test(`an adapter changes the start of each worker, and brings a queue of its own (backend: ${backend})`, async t => {
    const folder = openFolder(t)
    const file = folder.write('work.mjs', work.replace('lido/worker', import.meta.resolve('lido/worker')))
    const stack = []
    const pool = createStackPool(file, stack, { backend, minWorkers: 1, maxWorkers: 1 })
    assert.equal(await pool.run(null, { name: 'number' }), 1)
    const order = []
    const first = pool.run(0, { name: 'wait' })
    const calls = [1, 2, 3].map(value => pool.run(value).then(() => order.push(value)))
    const controller = new AbortController()
    const cancelled = pool.run(4, { signal: controller.signal })
    controller.abort()
    await assert.rejects(cancelled, { code: 'ERR_LIDO_TASK_CANCELLED' })
    await Promise.all([first, ...calls])
    assert.deepEqual(order, [3, 2, 1])
    await pool.recycle()
    assert.equal(await pool.run(null, { name: 'number' }), 2)
    await pool.close()
  })

  test(`runWrapped() calls what the wrapper makes of the handler (backend: ${backend})`, async t => {
    const folder = openFolder(t)
    const file = folder.write('work.mjs', 'export default value => value + 1')
    const wrapper = folder.write('wrapper.mjs', 'export const wrap = handler => value => handler(value) * 10')
    const pool = createPool({ filename: file, backend, maxWorkers: 1 }, workerOptions => workerOptions)
    assert.deepEqual([await runWrapped(pool, 1, {}, wrapper), await pool.run(1)], [20, 2])
    assert.equal(await runWrapped(pool, 1, undefined, pathToFileURL(wrapper)), 20)
    const noWrap = folder.write('no-wrap.mjs', 'export default 1')
    for (const faulty of [noWrap, join(folder.path, 'missing.mjs')]) {
      const { message } = await rejection(runWrapped(pool, 1, {}, faulty))
      assert.ok(message.includes(faulty), message)
    }
    await pool.close()
    await assert.rejects(runWrapped(pool, 1, {}, wrapper), { code: 'ERR_LIDO_POOL_CLOSED' })
  })
}

test('mistakes of an adapter get errors that name them', async t => {
  const filename = openFolder(t).write('work.mjs', 'export default value => value')
  const pool = createPool({ filename, maxWorkers: 1 })
  t.after(() => pool.destroy())
  const relative = await rejection(runWrapped(pool, 1, {}, './wrapper.mjs'))
  assert.match(relative.message, /^The argument 'wrapper' of runWrapped\(\) must be an absolute path/)
  assert.match((await rejection(runWrapped({}, 1, {}, filename))).message, /must be a pool/)
  assert.throws(
    () => createPool({ filename, minWorkers: 1 }, () => undefined),
    /adaptStart\(\) must return the options of a worker, got undefined/,
  )
})

test('a problem without a listener warns once, and goes to the listener after that', () => {
  const emitter = new EventEmitter()
  const warned = []
  const problems = new Problems(emitter, error => warned.push(error))
  problems.tell(1)
  problems.tell(2)
  assert.deepEqual(warned, [1])
  const heard = []
  emitter.on('error', error => heard.push(error))
  problems.tell(3)
  assert.deepEqual([warned, heard], [[1], [3]])
})
