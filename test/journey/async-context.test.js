// A handler never sees the `AsyncLocalStorage` store of its caller, and no worker keeps that store in memory.
// Listeners see the store of the code that created the pool.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { storage } from '../fixtures/handlers/stored.js'
import { backends } from '../helpers/backends.js'
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

for (const [title, options] of Object.entries(backends)) {
  test(`each function of the program sees the AsyncLocalStorage store of its call, on ${title}`, async open => {
    const wrong = []
    const places = new Set()
    const see = (place, id) => {
      places.add(place)
      if (storage.getStore() !== id) wrong.push(place)
    }
    /** The payload of a call of `api` is the list of its arguments. */
    const idOf = payload => [payload].flat()[0].id
    const pool = open({
      filename: handler('called-back.js'),
      minWorkers: 1,
      maxWorkers: 2,
      loadBalancer(task, workers) {
        see(`loadBalancer for ${task.name}`, idOf(task.payload))
        return workers.find(worker => worker.isIdle) ?? null
      },
      retry: { attempts: 3, when: ({ id }) => see('retry.when of the pool', id) ?? true },
      ...options,
    })
    const callAll = async id => {
      const item = { id }
      await pool.run(item, { name: 'failOnce' })
      const when = () => see('retry.when of the call', id) ?? true
      await pool.run({ id, again: 1 }, { name: 'failOnce', retry: { attempts: 3, when } })
      await pool.api.failOnce({ id, again: 2 })
      await pool.run(item, { name: 'progress', onProgress: () => see('onProgress', id) })
      await pool.run(item, { name: 'call', functions: { ask: () => see('functions', id) } })
      function* source() {
        for (let count = 0; count < 3; count++) {
          see('source of map()', id)
          yield { id, count }
        }
      }
      const map = { name: 'failOnce', onProgress: () => see('onProgress of map()', id) }
      for await (const _ of pool.map(source(), map)) see('loop over map()', id)
      await pool.map([item], { name: 'fail', onError: () => see('onError of map()', id) ?? 'skip' })
      await pool.map([item], { name: 'progress', onItemProgress: () => see('onItemProgress', id) })
      await pool.map([item]).forEach(() => void see('forEach() of map()', id))
      for await (const _ of pool.stream(item, { name: 'chunks' })) see('loop over stream()', id)
      const controller = new AbortController()
      controller.signal.addEventListener('abort', () => see('abort listener', id))
      const aborted = pool.run(item, { signal: controller.signal }).catch(() => see('rejection', id))
      controller.abort()
      await aborted
    }
    const calls = Array.from({ length: 4 }, (_, id) => storage.run(id, () => callAll(id)))
    await Promise.all(calls)
    assert.deepEqual(wrong, [])
    for (const place of ['loadBalancer for failOnce', 'loadBalancer for chunks', 'retry.when of the pool']) {
      assert.ok(places.has(place), place)
    }
  })
}
