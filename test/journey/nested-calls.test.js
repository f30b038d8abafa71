// Nested calls with `inherit: true`: in a handler, and in a function of the program that a handler called.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Pool } from 'lido'
import { handler } from '../helpers/handler.js'

const quiet = { filename: handler('nested-calls.js'), maxWorkers: 1, performanceWarnings: false }
const simple = { ...quiet, filename: handler('observed.js') }

for (const [kind, options] of [
  ['threads', {}],
  ['processes', { backend: 'process' }],
]) {
  describe(kind, () => {
    const pool = new Pool({ ...quiet, ...options })
    const other = new Pool(simple)
    after(() => Promise.all([pool.close(), other.close()]))

    test('a nested call in a handler takes the deadline of its task', async () => {
      const deadline = Date.now() + 60_000
      const { own, nested } = await pool.run(0, { name: 'inherits', deadline })
      assert.ok(
        Math.abs(own - deadline) < 50 && Math.abs(nested - deadline) < 50,
        `${own - deadline} ${nested - deadline}`,
      )
      assert.deepEqual(await pool.run(0, { name: 'inherits' }), { own: undefined, nested: undefined })
    })

    test('a nested call in a called function takes the deadline of the task', async () => {
      const deadline = Date.now() + 60_000
      const runNested = own => () => other.run(0, { name: 'deadline', inherit: true, deadline: own })
      const nested = own =>
        pool.run(0, { name: 'callBack', deadline, functions: { runNested: runNested(own) } })
      assert.ok(Math.abs((await nested(undefined)) - deadline) < 50)
      assert.ok(
        Math.abs((await nested(deadline - 30_000)) - (deadline - 30_000)) < 50,
        'the earlier one counts',
      )
    })

    test('cancelling a task cancels the call of its function', async () => {
      const controller = new AbortController()
      let nested
      const runNested = () => {
        nested = other.run(0, { name: 'waitForAbort', inherit: true, signal: new AbortController().signal })
        controller.abort()
        return nested
      }
      await assert.rejects(
        pool.run(0, { name: 'callBack', signal: controller.signal, functions: { runNested } }),
        { name: 'AbortError' },
      )
      await assert.rejects(nested, { name: 'AbortError' })
    })
  })
}

test('cancelling a task cancels the nested call of its handler', async () => {
  const pool = new Pool({ ...quiet, cancelGrace: 60_000 })
  const controller = new AbortController()
  const started = withResolvers()
  const call = pool.run(0, {
    name: 'cancelsNested',
    signal: controller.signal,
    functions: { started: () => started.resolve() },
  })
  await started.promise
  controller.abort()
  await assert.rejects(call, { name: 'AbortError' })
  // The worker takes the next task when the nested call has ended.
  assert.equal((await pool.run(0, { name: 'inherits' })).nested, undefined)
  assert.equal(pool.stats().endedWorkers.length, 0)
  await pool.close()
})

test('inherit has no effect outside a task', async () => {
  const pool = new Pool(simple)
  assert.equal(await pool.run(0, { name: 'deadline', inherit: true }), undefined)
  await assert.rejects(pool.run(0, { inherit: 'yes' }), { code: 'ERR_LIDO_INVALID_TASK', option: 'inherit' })
  await pool.close()
})

function withResolvers() {
  let resolve
  const promise = new Promise(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
