// A handler never sees the `AsyncLocalStorage` store of its caller, and no worker keeps that store in memory.
// Listeners see the store of the code that created the pool.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { storage } from '../fixtures/handlers/stored.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
const filename = handler('stored.js')
const HOUR_MS = 3_600_000

async function seenBy(callers, run) {
  const seen = []
  for (const caller of callers) seen.push(await storage.run(caller, run))
  return seen
}

for (const [title, call, options] of [
  ['an inline handler', {}, { filename, backend: 'inline' }],
  ['an inline handler that awaits', { name: 'later' }, { filename, backend: 'inline' }],
  ['an inline handler from the filename of a call', { filename }, { backend: 'inline' }],
]) {
  test(`${title} does not see the AsyncLocalStorage store of its caller`, async open => {
    const pool = open({ ...options, minWorkers: 0, maxWorkers: 1 })
    const run = () => pool.run(null, call)
    assert.deepEqual(await seenBy(['first', 'second'], run), ['nothing', 'nothing'])
    assert.equal(await run(), 'nothing')
  })
}

test('an inline handler does not see the AsyncLocalStorage store of the code that created its pool', async open => {
  const pool = storage.run('maker', () => open({ filename, backend: 'inline', minWorkers: 1, maxWorkers: 1 }))
  assert.deepEqual(await seenBy(['first', 'second'], () => pool.run()), ['nothing', 'nothing'])
})

for (const backend of ['thread', 'process', 'inline']) {
  test(`a worker does not keep the AsyncLocalStorage store of its first caller in memory (backend: ${backend})`, async open => {
    const pool = open({
      filename: handler('echo.js'),
      backend,
      minWorkers: 0,
      maxWorkers: 1,
      timeout: HOUR_MS,
      idleTimeout: HOUR_MS,
      maxWorkerAge: HOUR_MS,
    })
    const stores = new AsyncLocalStorage()
    const callWithStore = async () => {
      const store = { of: 'the first caller' }
      await stores.run(store, () => pool.run(1))
      return new WeakRef(store)
    }
    const store = await callWithStore()
    while (store.deref() !== undefined) {
      await nextTurn()
      collectGarbage()
    }
    assert.equal(pool.workers.length, 1)
  })
}

test('listeners of a pool see the AsyncLocalStorage store of the code that created the pool', async open => {
  const pool = storage.run('maker', () =>
    open({
      filename: handler('conformant.js'),
      minWorkers: 0,
      maxWorkers: 1,
    }),
  )
  const seen = []
  const hear = name => pool.on(name, () => seen.push(`${name} ${storage.getStore()}`))
  for (const name of ['workerCreate', 'error', 'workerDestroy', 'close']) hear(name)
  await storage.run('first', () => pool.run(1))
  assert.deepEqual(seen, ['workerCreate maker'])
  const destroyed = once(pool, 'close')
  storage.run('last', () => void pool.destroy())
  await destroyed
  assert.deepEqual(seen.slice(1).sort(), ['close maker', 'workerDestroy maker'])
})
