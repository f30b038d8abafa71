// Behaviour that programs written for Piscina rely on and that Piscina's own tests do not check: the API of 2020, and
// undocumented contracts.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import Piscina, * as names from 'lido/piscina'

const require = createRequire(import.meta.url)
const door = fileURLToPath(new URL('./handlers/door.cjs', import.meta.url))
const fixtures = name => fileURLToPath(new URL(`./handlers/${name}`, import.meta.url))

function onePool(options) {
  return new Piscina({ filename: door, minThreads: 1, maxThreads: 1, ...options })
}

describe('the module lido/piscina', () => {
  test('require() returns the class itself, with no default and no __esModule', () => {
    const required = require('lido/piscina')
    assert.equal(required, Piscina)
    assert.equal(required.Piscina, required)
    assert.equal('default' in required, false)
    assert.equal('__esModule' in required, false)
    assert.equal(names.Piscina, Piscina)
  })

  test('the class has the static members of Piscina 5.3, in the same order', () => {
    assert.deepEqual(Object.getOwnPropertyNames(Piscina), [
      ...['length', 'name', 'prototype', 'isWorkerThread', 'workerData', 'version', 'Piscina', 'FixedQueue'],
      ...['ArrayTaskQueue', 'move', 'transferableSymbol', 'valueSymbol', 'queueOptionsSymbol'],
    ])
    assert.equal(Piscina.version, require('piscina').version)
  })

  test('a subclass of Piscina can be created without a filename', async () => {
    class Sub extends Piscina {
      constructor() {
        super({ minThreads: 0, maxThreads: 1 })
      }
    }
    const pool = new Sub()
    assert.equal(await pool.run('x', { filename: door, name: 'echo' }), 'x')
    assert.ok(pool instanceof Piscina && pool instanceof EventEmitter)
    await pool.destroy()
  })
})

describe('undocumented contracts of Piscina', () => {
  test('workerData in the worker is the value that the pool was given', async () => {
    const pool = new Piscina({
      filename: fixtures('worker-data.cjs'),
      maxThreads: 1,
      workerData: { answer: 42 },
    })
    assert.deepEqual(await pool.run(null), {
      own: { answer: 42 },
      door: { answer: 42 },
      isWorkerThread: true,
    })
    await pool.close()
  })

  test('an undefined transferList, an infinite idleTimeout, useAtomics and unknown options are accepted', async () => {
    for (const idleTimeout of [Number.POSITIVE_INFINITY, 2 ** 31 - 1]) {
      const pool = onePool({ idleTimeout, useAtomics: true, somethingElse: 1 })
      assert.equal(await pool.run(1, { name: 'echo', transferList: undefined }), 1)
      assert.equal(pool.options.somethingElse, 1)
      await pool.destroy()
    }
  })

  test('a task may block in Atomics.wait() until the host answers through a port of the task', async () => {
    const pool = new Piscina({ filename: fixtures('blocking-port.cjs'), maxThreads: 1 })
    const { port1, port2 } = new MessageChannel()
    const signal = new Int32Array(new SharedArrayBuffer(4))
    port1.on('message', question => {
      port1.postMessage(`answer to ${question}`)
      Atomics.store(signal, 0, 1)
      Atomics.notify(signal, 0)
    })
    assert.equal(await pool.run({ port: port2, signal }, { transferList: [port2] }), 'answer to question')
    port1.close()
    await pool.close()
  })

  test('a handler is called with exactly one argument', async () => {
    const pool = onePool()
    assert.equal(await pool.run('x', { name: 'twice' }), 1)
    await pool.close()
  })

  test('a timer of an earlier task that exits the worker fails the running task, not the queued task', async () => {
    const pool = onePool()
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const { threadId } = pool.threads[0]
    await pool.run(flag, { name: 'exitOnceSet' })
    const running = pool.run(flag, { name: 'setAndStay' })
    const waiting = pool.run('x', { name: 'echo' })
    await assert.rejects(running, /worker exited with code: 1/)
    assert.equal(await waiting, 'x')
    assert.notEqual(pool.threads[0].threadId, threadId)
    await pool.destroy()
  })

  test('a pool can be used again after destroy() and after close()', async () => {
    const pool = onePool()
    await pool.run(1, { name: 'echo' })
    await pool.destroy()
    assert.equal(pool.threads.length, 0)
    assert.equal(await pool.run(2, { name: 'echo' }), 2)
    assert.equal(pool.threads.length, 1)
    assert.equal(pool.completed, 2)
    const closed = once(pool, 'close')
    await pool.close()
    await closed
    assert.equal(await pool.run(3, { name: 'echo' }), 3)
    await pool.destroy()
  })

  test("the event 'close' comes once for close(), also during destroy() and after closeTimeout", async () => {
    const pool = onePool({ closeTimeout: 1 })
    const events = []
    pool.on('close', () => events.push('close'))
    const destroyed = pool.destroy()
    await Promise.all([pool.close(), pool.close(), destroyed])
    assert.deepEqual(events, ['close'])
    await pool.destroy()
    assert.deepEqual(events, ['close'])
    await pool.run(1, { name: 'echo' })
    const cutOff = assert.rejects(pool.run(1, { name: 'loop' }))
    await assert.rejects(pool.close(), /timed out/i)
    await cutOff
    assert.deepEqual(events, ['close', 'close'])
  })

  test('a queue belongs to one open pool at a time', async () => {
    const taskQueue = new Piscina.ArrayTaskQueue()
    const first = onePool({ taskQueue })
    assert.throws(() => onePool({ taskQueue }), /^TypeError: options\.taskQueue is the queue of another pool/)
    await first.run(0, { name: 'echo' })
    await first.close()
    const second = onePool({ taskQueue })
    const answers = [1, 2, 3].map(value => second.run(value, { name: 'echo' }))
    assert.deepEqual(await Promise.all(answers), [1, 2, 3])
    const signal = new EventEmitter()
    for (const value of [1, 2]) {
      await assert.rejects(first.run(value, { name: 'echo', signal }), /queue of another pool/)
      assert.equal(first.completed, 1)
      assert.equal(signal.listenerCount('abort'), 0)
    }
    await second.destroy()
    assert.equal(await first.run(3, { name: 'echo' }), 3)
    await first.destroy()
  })

  test('a task in move() keeps its queue options', async () => {
    const taskQueue = new Piscina.ArrayTaskQueue()
    const asked = []
    const push = taskQueue.push.bind(taskQueue)
    taskQueue.push = task => {
      asked.push(task[Piscina.queueOptionsSymbol])
      push(task)
    }
    const pool = onePool({ taskQueue })
    const tasks = [
      new Uint8Array(2),
      new ArrayBuffer(1),
      { [Piscina.transferableSymbol]: [], [Piscina.valueSymbol]: 0 },
    ]
    const answers = tasks.map((task, priority) => {
      return pool.run(Piscina.move(Object.assign(task, { [Piscina.queueOptionsSymbol]: { priority } })), {
        name: 'echo',
      })
    })
    await Promise.all(answers)
    assert.deepEqual(asked, [{ priority: 0 }, { priority: 1 }, { priority: 2 }])
    await pool.destroy()
  })

  test('the options of a pool can create another pool', async () => {
    const first = onePool()
    const second = new Piscina({ ...first.options })
    const third = new Piscina(second.options)
    const pools = [first, second, third]
    const answers = [0, 1, 2].map(value => Promise.all(pools.map(pool => pool.run(value, { name: 'echo' }))))
    assert.deepEqual(
      await Promise.all(answers),
      [0, 1, 2].map(value => [value, value, value]),
    )
    await Promise.all(pools.map(pool => pool.destroy()))
  })

  test("the event 'workerDestroy' has the id that the worker was created with", async () => {
    const pool = onePool()
    const ids = []
    for (const event of ['workerCreate', 'workerDestroy']) pool.on(event, ({ id }) => ids.push(id))
    await assert.rejects(pool.run(null, { name: 'exit' }), /worker exited/)
    await pool.run(1, { name: 'echo' })
    await pool.destroy()
    const [first, , second] = ids
    assert.deepEqual(ids, [first, first, second, second])
    assert.ok(first > 0 && second > first)
  })

  test('a load balancer may return a copy of a worker', async () => {
    const pool = onePool({
      maxThreads: 2,
      minThreads: 2,
      loadBalancer: (_task, workers) => ({ ...workers.find(({ currentUsage }) => currentUsage === 0) }),
    })
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const waiting = pool.run(flag, { name: 'waitForFlag' })
    assert.equal(await pool.run('meanwhile', { name: 'echo' }), 'meanwhile')
    Atomics.store(flag, 0, 1)
    Atomics.notify(flag, 0)
    assert.equal(await waiting, 'flag seen')
    await pool.destroy()
  })

  test('a file that is created after the pool is found, and a URL that is not a file path rejects', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lido-door-'))
    const filename = relative(process.cwd(), join(folder, 'late.cjs'))
    const pool = new Piscina({ filename, minThreads: 0, maxThreads: 1 })
    writeFileSync(join(folder, 'late.cjs'), 'module.exports = value => value + 1')
    assert.equal(await pool.run(1), 2)
    await assert.rejects(pool.run(1, { filename: 'file:///a%2Fb.js' }), /must not include encoded/)
    await pool.destroy()
    rmSync(folder, { recursive: true })
  })

  test('a file URL needs no extension', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lido-door-'))
    writeFileSync(join(folder, 'index.js'), 'module.exports = value => value + 1')
    const pool = new Piscina({ filename: pathToFileURL(folder).href, maxThreads: 1 })
    for (const name of ['', 'index', 'index.js']) {
      assert.equal(await pool.run(1, { filename: pathToFileURL(join(folder, name)).href }), 2)
    }
    assert.equal(await pool.run(2), 3)
    await pool.destroy()
    rmSync(folder, { recursive: true })
  })

  test('resource limits that are not positive numbers or that Node does not know are ignored', async () => {
    for (const resourceLimits of [
      { maxOldGenerationSizeMb: Number.NaN, stackSizeMb: 0, maxHeapMb: 1 },
      { maxOldGenerationSizeMb: '64', stackSizeMb: true },
    ]) {
      const pool = onePool({ resourceLimits })
      assert.equal(await pool.run(1, { name: 'echo' }), 1)
      await pool.destroy()
    }
  })

  test('the pool reads only own properties of its options, and keeps them without a prototype', () => {
    const polluted = Object.create({ filename: 42, minThreads: -1 })
    const pool = new Piscina(Object.assign(polluted, { minThreads: 0 }))
    assert.equal(Object.getPrototypeOf(pool.options), null)
    assert.equal(pool.options.filename, null)
    assert.equal(pool.options.maxQueue, Number.POSITIVE_INFINITY)
  })

  test('a built-in module is refused as a handler', async () => {
    const pool = new Piscina({ minThreads: 0, maxThreads: 1 })
    await assert.rejects(pool.run('id', { filename: 'child_process', name: 'execSync' }), /builtin module/)
    await assert.rejects(
      pool.run('id', { filename: 'node:child_process', name: 'execSync' }),
      /builtin module/,
    )
    assert.equal(pool.threads.length, 0)
  })
})

describe('errors', () => {
  test('an AbortError has the abort reason as its cause, and no cause for an EventEmitter', async () => {
    const pool = onePool()
    const controller = new AbortController()
    const reason = new Error('enough')
    const first = pool.run(null, { name: 'loop', signal: controller.signal })
    controller.abort(reason)
    await assert.rejects(first, { name: 'AbortError', message: 'The task has been aborted', cause: reason })
    const emitter = new EventEmitter()
    const second = pool.run(null, { name: 'loop', signal: emitter })
    emitter.emit('abort')
    const error = await second.catch(caught => caught)
    assert.equal(error.name, 'AbortError')
    assert.equal('cause' in error, false)
    assert.equal(emitter.listenerCount('abort'), 0)
    await pool.close()
  })

  test('an EventEmitter that aborted a task gets one listener for all later tasks', async () => {
    const pool = onePool()
    const signal = new EventEmitter()
    const first = pool.run(null, { name: 'loop', signal })
    signal.emit('abort')
    const later = [pool.run(null, { name: 'loop', signal })]
    await assert.rejects(first, { name: 'AbortError' })
    later.push(pool.run(null, { name: 'loop', signal }))
    assert.equal(signal.listenerCount('abort'), 1)
    signal.emit('abort')
    for (const task of later) await assert.rejects(task, { name: 'AbortError' })
    assert.equal(signal.listenerCount('abort'), 0)
    await pool.close()
  })

  test('invalid options are refused with the messages of Piscina', async () => {
    const pool = onePool()
    await assert.rejects(pool.run(1, null), { message: 'options must be an object' })
    await assert.rejects(pool.run(1, { signal: {} }), { message: 'abortSignal.once is not a function' })
    await assert.rejects(pool.run(1, { name: 'nothing' }), {
      message: `No handler function exported from ${door}`,
    })
    await assert.rejects(
      pool.run(() => {}, { name: 'echo' }),
      { name: 'DataCloneError' },
    )
    await assert.rejects(pool.close(null), { message: 'options must be an object' })
    await assert.rejects(pool.close({ force: 1 }), { message: 'force argument must be a boolean' })
    assert.throws(() => new Piscina({ useAtomics: 'yes' }), {
      message: 'options.useAtomics must be a boolean value',
    })
    await pool.close()
  })

  test('invalid worker options are refused with the errors of Node', async () => {
    for (const option of ['env', 'argv', 'execArgv']) {
      assert.throws(() => onePool({ [option]: 'x' }), { name: 'TypeError', message: new RegExp(option) })
    }
    assert.throws(() => onePool({ workerData: () => {} }), { name: 'DataCloneError' })
    const pool = onePool({ workerData: () => {}, minThreads: 0, argv: '', execArgv: '' })
    await assert.rejects(pool.run(1, { name: 'echo' }), { name: 'DataCloneError' })
    await pool.destroy()
  })

  test('a call with an empty handler name rejects', async () => {
    const pool = onePool({ name: '' })
    const message = `No handler function exported from ${door}`
    await assert.rejects(pool.run(1), { message })
    await assert.rejects(pool.run(1, { name: '' }), { message })
    assert.equal(await pool.run(1, { name: 'echo' }), 1)
    await pool.destroy()
  })

  for (const off of ['off', 'removeListener']) {
    test(`a signal may be any object with once() and ${off}()`, async () => {
      const pool = onePool()
      const errors = []
      pool.on('error', error => errors.push(error))
      const calls = []
      const signal = { once: name => calls.push(name), [off]: name => calls.push(`off ${name}`) }
      assert.equal(await pool.run(1, { name: 'echo', signal }), 1)
      assert.deepEqual(calls, ['abort', 'off abort'])
      assert.deepEqual(errors, [])
      await pool.destroy()
    })
  }
})

describe('the API of 2020', () => {
  const filename = fixtures('length.cjs')

  test('runTask() accepts its arguments in every order of the old API', async () => {
    const pool = new Piscina({ filename: door, maxThreads: 1 })
    const { signal } = new AbortController()
    const buffer = () => new ArrayBuffer(8)
    assert.equal(await pool.runTask(buffer(), filename), 8)
    assert.equal(await pool.runTask(buffer(), filename, signal), 8)
    const moved = buffer()
    assert.equal(await pool.runTask(moved, [moved], filename), 8)
    assert.equal(moved.byteLength, 0)
    const other = buffer()
    assert.equal(await pool.runTask(other, [other], filename, new EventEmitter()), 8)
    await pool.close()
  })

  test('runTask(task, signal) and runTask(task, list, signal) can be aborted by an EventEmitter', async () => {
    const pool = new Piscina({ filename: fixtures('loop.cjs'), maxThreads: 1 })
    for (const call of [signal => pool.runTask(1, signal), signal => pool.runTask(1, [], signal)]) {
      const emitter = new EventEmitter()
      const task = call(emitter)
      emitter.emit('abort')
      await assert.rejects(task, { name: 'AbortError' })
    }
    await pool.close()
  })

  test('runTask() rejects invalid arguments with the messages of the old API', async () => {
    const pool = new Piscina({ filename, maxThreads: 1 })
    await assert.rejects(pool.runTask(1, 42), { message: 'transferList argument must be an Array' })
    await assert.rejects(pool.runTask(1, [], 42), { message: 'filename argument must be a string' })
    await assert.rejects(pool.runTask(1, [], filename, 42), { message: 'signal argument must be an object' })
    await pool.close()
  })

  test('fileName works like filename, and runTime and waitTime return the histograms', async () => {
    const pool = new Piscina({ fileName: filename, maxThreads: 1 })
    assert.equal(await pool.runTask(new ArrayBuffer(3)), 3)
    assert.equal(pool.runTime.max, pool.histogram.runTime.max)
    assert.equal(pool.waitTime.max, pool.histogram.waitTime.max)
    assert.deepEqual(Object.keys(pool.runTime).slice(0, 6), [
      'average',
      'mean',
      'stddev',
      'min',
      'max',
      'p0_001',
    ])
    await pool.close()
  })

  test("the event 'drain' comes when the queue is empty again, as loops over streams expect", async () => {
    const pool = new Piscina({ filename, maxThreads: 1, maxQueue: 4 })
    let pauses = 0
    for (let row = 0; row < 50; row++) {
      pool.runTask(new ArrayBuffer(row))
      if (pool.queueSize < pool.options.maxQueue) continue
      pauses++
      await once(pool, 'drain')
    }
    await pool.close()
    assert.equal(pool.completed, 50)
    assert.ok(pauses > 0)
  })
})
