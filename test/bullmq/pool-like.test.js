// What PoolLike promises, played with a Pool and with a RemotePool. They differ in two points: a RemotePool needs close() before the
// program can end, and its stats() has no workers.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Pool } from 'lido'
import { RemotePool, serve } from 'lido/bullmq'
import { engines } from '../helpers/engines.js'
import { handler } from '../helpers/handler.js'

const filename = handler('jobs.js')

describe('a Pool as a PoolLike', () =>
  conforms(async () => ({ make: () => new Pool({ filename, maxWorkers: 2 }) })))
for (const engine of engines) {
  describe(`a RemotePool with ${engine.name} as a PoolLike`, { skip: engine.skip }, () => {
    conforms(async () => {
      const server = await engine.start()
      const pool = new Pool({ filename, maxWorkers: 2, cancelGrace: 0 })
      const host = serve('conformance', pool, { ...server.options, giveBackTimeout: 0 })
      host.on('error', () => {})
      const make = () => {
        const remote = new RemotePool('conformance', server.options)
        return remote.on('error', () => {})
      }
      const end = async () => {
        await host.close()
        await pool.close()
        await server.stop()
      }
      return { make, end }
    })
  })
}

function conforms(prepare) {
  let make
  let end
  let pool
  before(async () => {
    ;({ make, end } = await prepare())
    pool = make()
  })
  after(async () => {
    await pool.destroy()
    await end?.()
  })

  test('run() resolves to the result of the named function', async () => {
    assert.equal(await pool.run(21, { name: 'double' }), 42)
  })

  test('api calls functions with their own arguments, and with() adds options', async () => {
    assert.equal(await pool.api.add(1, 2), 3)
    assert.equal(await pool.with({ timeout: 10_000 }).api.add(3, 4), 7)
  })

  test('payloads and results are structured clones', async () => {
    const value = {
      map: new Map([[1, new Set([2n])]]),
      date: new Date(5),
      bytes: new Uint8Array([1]),
      none: undefined,
    }
    value.self = value
    assert.deepEqual(await pool.run(value, { name: 'echo' }), value)
  })

  test("a handler's error keeps its class, code and cause", async () => {
    await assert.rejects(pool.run({ code: 'E_FAR' }, { name: 'throws' }), error => {
      assert.ok(error instanceof RangeError)
      assert.equal(error.code, 'E_FAR')
      assert.ok(error.cause instanceof TypeError)
      return true
    })
  })

  test('failures of the pool have the same codes', async () => {
    for (const [name, options, code] of [
      ['missing', {}, 'ERR_LIDO_WORKER_START'],
      ['dies', {}, 'ERR_LIDO_WORKER_EXIT'],
      ['unsendable', {}, 'ERR_LIDO_NOT_CLONEABLE'],
      ['waits', { timeout: 50 }, 'ERR_LIDO_TASK_TIMEOUT'],
      ['waits', { deadline: Date.now() + 100 }, 'ERR_LIDO_TASK_TIMEOUT'],
      ['double', { deadline: 1 }, 'ERR_LIDO_TASK_TIMEOUT'],
      ['double', { timeout: -1 }, 'ERR_LIDO_INVALID_TASK'],
      ['double', { signal: AbortSignal.abort() }, 'ERR_LIDO_TASK_CANCELLED'],
    ]) {
      await assert.rejects(pool.run(1, { name, ...options }), { code }, `${name} ${code}`)
    }
    await assert.rejects(
      pool.run(() => {}, { name: 'echo' }),
      { code: 'ERR_LIDO_NOT_CLONEABLE' },
    )
  })

  test('a signal rejects the call at once', async () => {
    const controller = new AbortController()
    const call = pool.run(1, { name: 'waits', signal: controller.signal })
    controller.abort('no longer wanted')
    await assert.rejects(call, { code: 'ERR_LIDO_TASK_CANCELLED', reason: 'no longer wanted' })
  })

  test('map() gives results in order, and stops or goes on after an error', async () => {
    assert.deepEqual(await pool.map([1, 2, 3], { name: 'double' }).toArray(), [2, 4, 6])
    await assert.rejects(pool.map([1, 2, 3], { name: 'oddOnly' }).toArray(), RangeError)
    const skipped = pool.map([1, 2, 3], { name: 'oddOnly', onError: 'skip' })
    assert.deepEqual(await skipped.toArray(), [1, 3])
  })

  test('a new pool has room, and stats() names its state', async () => {
    await pool.room()
    const { state, tasks } = pool.stats()
    assert.equal(state, 'open')
    assert.equal(typeof tasks.accepted, 'number')
  })

  test('close() waits for calls, and later calls are refused', async () => {
    const closing = make()
    const call = closing.run(50, { name: 'computes' })
    const report = await closing.close()
    assert.equal(report.cutOff, 0)
    assert.equal(await call, 50)
    await assert.rejects(closing.run(1, { name: 'double' }), { code: 'ERR_LIDO_POOL_CLOSED' })
    await assert.rejects(closing.room(), { code: 'ERR_LIDO_POOL_CLOSED' })
  })

  test('destroy() rejects unfinished calls', async () => {
    const destroyed = make()
    const call = assert.rejects(destroyed.run(1, { name: 'waits', timeout: 5000 }), {
      code: 'ERR_LIDO_POOL_CLOSED',
    })
    await destroyed.destroy()
    await call
  })
}
