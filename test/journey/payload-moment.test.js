// The payload of a call is what it was at the call: the caller may change its object as soon as the call has returned.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { move, NotCloneableError, PriorityQueue } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'

const require = createRequire(import.meta.url)
const filename = handler('orders.js').href

class OwnQueue {
  #tasks = []
  get size() {
    return this.#tasks.length
  }
  push(task) {
    this.#tasks.push(task)
  }
  shift() {
    return this.#tasks.shift() ?? null
  }
  remove(task) {
    this.#tasks = this.#tasks.filter(other => other !== task)
  }
}

const pools = {
  threads: () => ({}),
  'threads with messages': () => ({ transport: 'messages' }),
  'threads with several slots': () => ({ concurrentTasksPerWorker: 4 }),
  'a PriorityQueue': () => ({ queue: new PriorityQueue() }),
  'a queue of the program': () => ({ queue: new OwnQueue() }),
  'a load balancer': () => ({ loadBalancer: (_, workers) => workers[0] ?? null }),
  processes: () => ({ backend: 'process' }),
  'inline workers': () => ({ backend: 'inline' }),
}

class Order {
  constructor(amount) {
    this.amount = amount
  }
}

/** Each gives an order of 1, and changes it to 2. */
const orders = {
  'an object': [
    () => ({ amount: 1 }),
    order => {
      order.amount = 2
    },
  ],
  'an instance of a class': [
    () => new Order(1),
    order => {
      order.amount = 2
    },
  ],
  'a large object': [
    () => ({ amount: 1, text: 'x'.repeat(600_000) }),
    order => {
      order.amount = 2
    },
  ],
  'a typed array': [() => new Uint8Array([1, 0, 0]), order => order.fill(2)],
  'a large typed array': [() => new Float64Array(100_000).fill(1), order => order.fill(2)],
  'an object with shared memory': [
    () => ({ amount: 1, memory: new SharedArrayBuffer(8) }),
    order => {
      order.amount = 2
    },
  ],
}

/** Each makes one call, changes the order before the next turn of the event loop, and resolves to the amount. */
const calls = {
  'run()': (pool, order) => pool.run(order),
  'run(), exclusive': (pool, order) => pool.run(order, { exclusive: true }),
  'run() with retry': (pool, order) => pool.run(order, { retry: { attempts: 2 } }),
  'run() with functions': (pool, order) => pool.run(order, { functions: { none() {} } }),
  api: (pool, order) => pool.api.default(order),
  'broadcast()': async (pool, order) => (await pool.broadcast(order))[0],
  'map()': async (pool, order, change) => {
    function* items() {
      yield order
      // The map has submitted the order when it asks for the next item.
      change(order)
    }
    return (await pool.map(items(), { concurrency: 2 }).toArray())[0]
  },
  'stream()': async (pool, order) => (await pool.stream(order, { name: 'rows' }).toArray())[0],
}

/** Behind so many tasks another one waits in the host's queue. A queue in the order of the calls posts 1,024 tasks ahead. */
const waits = place => (place === 'threads' ? 1100 : 5)

for (const [place, options] of Object.entries(pools)) {
  test(`a handler gets the payload of the time of the call (${place})`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options() })
    await pool.run({ amount: 0 })
    const { backend } = pool.stats()
    for (const before of [0, 3, waits(place)]) {
      for (const [kind, [create, change]] of Object.entries(orders)) {
        if (backend === 'process' && kind === 'an object with shared memory') continue
        for (const [name, call] of Object.entries(calls)) {
          if (before > 3 && name !== 'run()' && name !== 'stream()') continue
          const others = Array.from({ length: before }, (_, index) => pool.run({ amount: index }))
          const order = create()
          const amount = call(pool, order, change)
          if (name !== 'map()') change(order)
          assert.equal(await amount, 1, `${kind} by ${name} behind ${before} tasks`)
          await Promise.all(others)
        }
      }
    }
  })

  test(`a payload that cannot be copied is refused in the turn of the call (${place})`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options() })
    await pool.run({ amount: 0 })
    for (const before of [0, waits(place)]) {
      for (const payload of [{ amount: 1, f() {} }, Symbol('amount'), () => {}]) {
        for (const [name, call] of Object.entries(calls)) {
          const others = Array.from({ length: before }, (_, index) => pool.run({ amount: index }))
          let refusal
          call(pool, payload, () => {}).catch(error => {
            refusal = error
          })
          await new Promise(resolve => process.nextTick(resolve))
          if (name !== 'map()' && name !== 'stream()') assert.ok(refusal instanceof NotCloneableError, name)
          await Promise.all(others)
          assert.ok(refusal instanceof NotCloneableError, name)
          assert.match(refusal.path, /^payload/)
        }
      }
    }
    assert.equal(await pool.run({ amount: 3 }), 3)
  })

  test(`a moved payload leaves the caller at the call (${place})`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options() })
    for (const before of [0, 3, waits(place)]) {
      const others = Array.from({ length: before }, (_, index) => pool.run({ amount: index }))
      const bytes = new Uint8Array([1, 0, 0])
      const amount = pool.run(move(bytes))
      assert.equal(bytes.length, 0)
      const order = { amount: 1, bytes: new Uint8Array(3) }
      const { buffer } = order.bytes
      const second = pool.run(order, { transferList: [buffer] })
      order.amount = 2
      assert.equal(buffer.byteLength, 0)
      assert.deepEqual(await Promise.all([amount, second]), [1, 1])
      await Promise.all(others)
    }
  })

  if (place === 'inline workers') continue
  test(`another attempt gets the payload of the time of the call (${place})`, async (open, t) => {
    const folder = mkdtempSync(join(tmpdir(), 'lido-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const pool = open({ filename, maxWorkers: 1, retry: { attempts: 2 }, ...options() })
    await pool.run({ amount: 0 })
    const file = join(folder, 'attempt')
    const payload = { file, order: { amount: 1 } }
    const amount = pool.run(payload, { name: 'amountOfSecond' })
    payload.order.amount = 2
    assert.equal(await amount, 1)
    assert.ok(existsSync(file))
  })

  test(`tasks that leave their worker unstarted keep their payloads (${place})`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options() })
    await pool.run({ amount: 0 })
    const slow = pool.run({ ms: 20 }, { name: 'slowly' })
    const order = { amount: 0 }
    const amounts = Array.from({ length: 20 }, (_, index) => {
      order.amount = index
      return pool.run(order)
    })
    await pool.recycle()
    assert.deepEqual(await Promise.all(amounts), Array.from(amounts.keys()))
    await slow
  })
}

test('the interfaces of other pools take the payload at the call', async (_, t) => {
  const order = { amount: 1 }
  const changed = promise => {
    order.amount = 2
    return promise.finally(() => {
      order.amount = 1
    })
  }
  const Piscina = require('lido/piscina')
  const piscina = new Piscina({ filename, minThreads: 1, maxThreads: 1 })
  t.after(() => piscina.destroy())
  const { Tinypool } = await import('lido/tinypool')
  const tinypool = new Tinypool({ filename, minThreads: 1, maxThreads: 1 })
  t.after(() => tinypool.destroy())
  const workerpool = require('lido/workerpool').pool({ maxWorkers: 1 })
  t.after(() => workerpool.terminate(true))
  for (const before of [0, 1100]) {
    const others = Array.from({ length: before }, () => [
      piscina.run({ amount: 0 }),
      tinypool.run({ amount: 0 }),
      workerpool.exec(amount => amount, [0]),
    ])
    assert.equal(await changed(piscina.run(order)), 1)
    assert.equal(await changed(tinypool.run(order)), 1)
    assert.equal(await changed(workerpool.exec(({ amount }) => amount, [order])), 1)
    await Promise.all(others.flat())
  }
})

test('a moved port is closed when its task never starts', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const busy = pool.run({ ms: 50 }, { name: 'slowly' })
  const controller = new AbortController()
  const { port1, port2 } = new MessageChannel()
  const closed = once(port1, 'close')
  const waiting = pool.run({ amount: 1, port2 }, { transferList: [port2], signal: controller.signal })
  controller.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  await closed
  await busy
})

test('a large payload may contain a module of WebAssembly', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const module = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))
  assert.equal(await pool.run({ amount: 1, text: 'x'.repeat(600_000), module }), 1)
})
