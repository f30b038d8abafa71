// What other code does to the process or to a worker's globals changes nothing for the pool.
import assert from 'node:assert/strict'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'

test('a polluted Object.prototype changes nothing of what a pool does', async () => {
  const { output, errors, exitCode } = await runProgram(`
    const pollution = {
      backend: 'inline',
      house: {},
      deadline: 0,
      filename: '/no/such/file.js', name: 'nothing', transferList: [{}], priority: 9,
      queueOptions: {}, maxThreads: 0, minThreads: -1, maxQueue: 0, resourceLimits: { stackSizeMb: 0.1 }, env: 1,
      argv: 1, execArgv: ['--title=x'], workerData: () => {}, force: true, queue: {}, niceIncrement: 'x', eval: true,
      kind: 'stop', stdin: true, handler: 1, capacity: 1, cutOff: 9, code: 'POLLUTED', errors: 1,
    }
    for (const [key, value] of Object.entries(pollution)) {
      Object.defineProperty(Object.prototype, key, { value, configurable: true, writable: true, enumerable: false })
    }
    const pool = new Pool({ ['filename']: handler('echo.js') })
    console.log(await pool.run('x'), await pool.run('y', {}))
    const { signal } = new AbortController()
    console.log(await pool.run('z', { ['signal']: signal }))
    await pool.room()
    await pool.room({})
    console.log((await pool.close({}))['cutOff'])
    for (const key of Object.keys(pollution)) delete Object.prototype[key]
  `)
  assert.equal(exitCode, 0, errors)
  assert.equal(output, 'x y\nz\n0\n', errors)
})

// Polluted once the workers are there: Node itself can neither open a stream nor listen to a port afterwards.
test('with a polluted signal tasks run, and a task’s own signal still cancels it', async () => {
  const { output, errors, exitCode } = await runProgram(`
    const pool = new Pool({ filename: handler('tracked.js'), name: 'patient', minThreads: 1, maxThreads: 1 })
    const words = new Int32Array(new SharedArrayBuffer(64))
    const quick = () => pool.run({ words: words.slice(), size: 1, index: 0 }, { name: 'quick' })
    console.log(await quick())
    Object.defineProperty(Object.prototype, 'signal', { value: AbortSignal.abort(), configurable: true, writable: true })
    console.log(await quick())
    const controller = new AbortController()
    const task = pool.run({ words, size: 1, index: 0 }, { signal: controller.signal })
    while (Atomics.load(words, 0) === 0) await new Promise(resolve => setImmediate(resolve))
    controller.abort()
    setTimeout(() => process.exit(9), 10_000).unref()
    await task.catch(error => console.log(error.name))
    delete Object.prototype.signal
    await pool.destroy()
  `)
  assert.equal(exitCode, 0, errors)
  assert.equal(output, '0\n0\nAbortError\n', errors)
})

for (const backend of ['thread', 'process']) {
  test(`a handler that replaces what Node’s modules export reaches nothing of the pool (${backend})`, async open => {
    const pool = open({ filename: handler('vandal.js'), backend, minThreads: 1, maxThreads: 1 })
    assert.equal(await pool.run(1, { name: 'noModules' }), 1)
    for (const value of [2, new Error('sent'), 'x'.repeat(3e6), [new Map([[new Date(0), 1n]])]]) {
      assert.deepEqual(await pool.run(value), value)
    }
    const unknown = { filename: handler('echo.js'), name: 'nothing' }
    await assert.rejects(pool.run(3, unknown), /nothing/)
    await pool.close()
    assert.equal(pool.stats().tasks.fulfilled, 5)
  })
}

for (const name of ['silenced', 'noTimers', 'noExit', 'noMessages', 'frozenTime', 'noLoopTimes']) {
  test(`a handler that takes away globals is answered, and so is the next task (${name})`, async open => {
    const pool = open({ filename: handler('vandal.js'), minThreads: 1, maxThreads: 1 })
    assert.equal(await pool.run(1, { name }), 1)
    assert.equal(await pool.run(2), 2)
    assert.equal(await pool.run(3), 3)
  })
}

test('a worker that cannot exit by itself is ended by the pool', async open => {
  const pool = open({ filename: handler('vandal.js'), minThreads: 1, maxThreads: 1 })
  await pool.run(1, { name: 'noExit' })
  await pool.close()
  assert.equal(pool.threads.length, 0)
})

test('a main thread that is blocked loses no result and cuts nothing off', async open => {
  const pool = open({
    filename: handler('echo.js'),
    name: 'later',
    minThreads: 2,
    maxThreads: 2,
    idleTimeout: 10,
  })
  const answers = Array.from({ length: 20 }, (_, index) => pool.run(index))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
  const closed = pool.close()
  assert.equal((await Promise.all(answers)).length, 20)
  assert.equal((await closed).cutOff, 0)
})

test('fake timers and clocks installed after the pool’s module change nothing', async open => {
  const {
    Date: realDate,
    setTimeout: realSetTimeout,
    setInterval: realSetInterval,
    setImmediate: realSetImmediate,
  } = globalThis
  const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1, maxQueue: 1 })
  try {
    const never = () => ({ ref() {}, unref() {} })
    Object.assign(globalThis, { setTimeout: never, setInterval: never, setImmediate: never })
    globalThis.Date = class extends realDate {
      static now = () => realDate.now() + 366 * 24 * 3600 * 1000
    }
    for (let round = 0; round < 20; round++) {
      await pool.room()
      assert.equal(await pool.run(round), round)
    }
    // Who says when speaks of the clock he knows.
    assert.equal(await pool.run(1, { deadline: Date.now() + 60_000 }), 1)
    await assert.rejects(pool.run(1, { deadline: Date.now() - 1 }), { code: 'ERR_LIDO_TASK_TIMEOUT' })
    await pool.close()
  } finally {
    const real = { setTimeout: realSetTimeout, setInterval: realSetInterval, setImmediate: realSetImmediate }
    Object.assign(globalThis, { ...real, Date: realDate })
  }
})

test('so do those of a test environment that were there before it, and are no more than a browser’s', async () => {
  const { exitCode, output, errors } = await runProgram(
    `
    const never = () => 7
    Object.assign(globalThis, { setTimeout: never, setInterval: never, queueMicrotask: never, performance: { now: () => 0 } })
    delete globalThis.setImmediate
    process.nextTick = never
    process.hrtime = Object.assign(() => [0, 0], { bigint: () => 0n })
    const { Pool: Copy } = await import(import.meta.resolve(process.env.DOOR) + '?anew')
    const pool = new Copy({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1, maxQueue: 1 })
    for (let round = 0; round < 20; round++) {
      await pool.room()
      console.log(await pool.run(round, { timeout: 10_000 }))
    }
    console.log(await pool.close())
  `,
    { env: { DOOR: import.meta.resolve('lido') } },
  )
  assert.deepEqual([exitCode, errors], [0, ''])
  assert.equal(output.split('\n').length, 22)
})
