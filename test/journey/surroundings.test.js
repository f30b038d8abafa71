// The environment of a handler: data, environment variables, arguments, priority, timers, and pools of its own.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { SHARE_ENV } from 'node:worker_threads'
import { InvalidOptionError, Pool } from 'lido'
import { isWorkerThread, workerData } from 'lido/worker'
import { backends } from '../helpers/backends.js'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'
import { untilItWorks } from '../helpers/retry.js'
import { reached, sharedWords } from '../helpers/shared-words.js'

const filename = handler('surroundings.js')
const { PRIORITY_LOW: LOWEST_PRIORITY } = constants.priority

test('env, argv, execArgv and workerData reach every worker', async open => {
  const options = {
    env: { COLOUR: 'blue' },
    argv: ['first', 'second'],
    execArgv: ['--no-warnings'],
    workerData: { a: 1 },
  }
  const pool = open({ filename, minWorkers: 2, maxWorkers: 2, ...options })
  for (const seen of await Promise.all([1, 2, 3, 4].map(() => pool.run()))) {
    assert.deepEqual(seen, {
      isWorkerThread: true,
      workerData: { a: 1 },
      colour: 'blue',
      argv: ['first', 'second'],
      execArgv: ['--no-warnings'],
    })
  }
})

for (const backend of ['thread', 'process']) {
  test(`workers see the environment and the flags of the time of the constructor (backend: ${backend})`, async () => {
    const { output, errors } = await runProgram(`
      import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
      import { tmpdir } from 'node:os'
      const folder = realpathSync(mkdtempSync(tmpdir() + '/lido-env-'))
      writeFileSync(folder + '/preload.mjs', 'globalThis.isPreloaded = true')
      process.chdir(folder)
      process.env.NODE_OPTIONS = '--import ' + folder + '/preload.mjs'
      const execArgv = ['--no-warnings']
      const env = { ...process.env, GIVEN: '1' }
      const options = { filename: handler('surroundings.js'), name: 'surroundings', backend: '${backend}' }
      const pools = [
        new Pool({ ...options, minWorkers: 0, maxWorkers: 2 }),
        new Pool({ ...options, minWorkers: 0, maxWorkers: 2, env, execArgv }),
      ]
      process.env.LATE = '1'
      process.env.NODE_OPTIONS = '--require /no/such/file.cjs'
      env.LATE = '1'
      env.NODE_OPTIONS = '--require /no/such/file.cjs'
      execArgv.push('--require', '/no/such/file.cjs')
      if ('${backend}' === 'process') process.chdir('/')
      for (const pool of pools) {
        const seen = await Promise.all([pool.run(1), pool.run(2)])
        console.log(seen.every(({ late, isPreloaded, cwd }) => !late && isPreloaded && cwd === folder))
        await pool.close()
      }
    `)
    assert.deepEqual([output, errors], ['true\ntrue\n', ''])
  })
}

test('flags of the program that a thread cannot have do not prevent its start', async () => {
  const source = `
    process.env.NODE_OPTIONS = '--max-old-space-size=3000 --no-warnings'
    const pool = new Pool({ filename: handler('echo.js'), maxWorkers: 1 })
    console.log(await pool.run('started'))
    await pool.close()
  `
  for (const nodeArguments of [[], ['--expose-gc', '--stack-size=900', '-C', 'development']]) {
    const { output } = await runProgram(source, { nodeArguments, env: { NODE_OPTIONS: '--use-openssl-ca' } })
    assert.equal(output, 'started\n')
  }
})

test('a heap flag for threads is refused by name, with resourceLimits as the way out', async () => {
  for (const options of [
    { execArgv: ['--max-old-space-size=300'] },
    { env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=300' } },
    { env: { NODE_OPTIONS: '--no-warnings --max-semi-space-size=8' } },
  ]) {
    assert.throws(
      () => new Pool({ filename, minWorkers: 1, ...options }),
      error => error instanceof InvalidOptionError && /size=?\d*.*resourceLimits/.test(error.message),
    )
  }
})

test('a heap limit that a flag of the program overrides is reported once, and holds in processes', async () => {
  const source = `
    const warnings = []
    process.on('warning', ({ code }) => warnings.push(code))
    const open = options => new Pool({ filename: handler('echo.js'), minWorkers: 2, maxWorkers: 2, ...options })
    const limited = { resourceLimits: { maxOldGenerationSizeMb: 64 } }
    for (const options of [{}, { ...limited, backend: 'process' }, limited, limited]) {
      const pool = open(options)
      await pool.ready()
      await pool.close()
      console.log(warnings.join())
    }
  `
  for (const how of [
    { nodeArguments: ['--max-old-space-size=1500'] },
    { env: { NODE_OPTIONS: '--max-old-space-size=1500' } },
  ]) {
    const { output } = await runProgram(source, how)
    assert.equal(output, '\n\nLIDO_HEAP_LIMIT\nLIDO_HEAP_LIMIT\n')
  }
  assert.equal((await runProgram(source)).output, '\n\n\n\n')
})

test('a CommonJS handler sees isWorkerThread and workerData, and has no require.main', async open => {
  const pool = open({ filename: handler('surroundings.cjs'), maxWorkers: 1, workerData: [1, 2] })
  const { hasMain, ...seen } = await pool.run()
  assert.deepEqual(seen, { isWorkerThread: true, workerData: [1, 2] })
  assert.equal(hasMain, false, 'no file of the pool’s is their main module')
})

test('isWorkerThread is false and workerData is undefined outside a worker', () => {
  assert.equal(isWorkerThread, false)
  assert.equal(workerData, undefined)
})

test('a worker with env: SHARE_ENV sees the environment variables of the host', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, env: SHARE_ENV })
  process.env.COLOUR = 'green'
  assert.equal((await pool.run()).colour, 'green')
  delete process.env.COLOUR
})

test('the constructor refuses execArgv flags and workerData that a worker cannot have', () => {
  assert.throws(
    () => new Pool({ filename, minWorkers: 1, execArgv: ['--title=x'] }),
    error => error instanceof InvalidOptionError && error.option === 'execArgv',
  )
  assert.throws(
    () => new Pool({ filename, minWorkers: 1, workerData: () => {} }),
    error => error instanceof InvalidOptionError && error.option === 'workerData',
  )
})

test('run() rejects with the name of the wrong option when minWorkers is 0', async open => {
  for (const options of [{ execArgv: ['--title=x'] }, { workerData: () => {} }]) {
    const pool = open({ filename, minWorkers: 0, maxWorkers: 1, ...options })
    const [option] = Object.keys(options)
    for (let call = 0; call < 3; call++)
      await assert.rejects(pool.run(), { code: 'ERR_LIDO_INVALID_OPTION', option })
  }
})

test('niceIncrement lowers the priority of the workers of its pool only', async open => {
  const pool = open({ filename, name: 'niceness', minWorkers: 1, maxWorkers: 1, niceIncrement: 3 })
  const plain = open({ filename, name: 'niceness', minWorkers: 1, maxWorkers: 1 })
  assert.equal(await pool.run(), Math.min((await plain.run()) + 3, LOWEST_PRIORITY))
})

for (const backend of ['thread', 'process']) {
  test(`a worker stops although its handler replaced process.exit (${backend})`, async (open, t) => {
    const file = join(openFolder(t).path, 'exited')
    const pool = open({ filename, maxWorkers: 1, backend })
    await pool.run(file, { name: 'replaceExit' })
    await pool.close()
    assert.equal(readFileSync(file, 'utf8'), 'exited')
  })
}

test('an interval of a handler module ticks while its worker is idle', async open => {
  const ticks = sharedWords(1)
  const pool = open({ filename: handler('ticking.js'), minWorkers: 1, maxWorkers: 1, workerData: ticks })
  await pool.run()
  const seen = await reached(ticks, 0)
  await reached(ticks, 0, seen + 5)
})

test('work that a handler did not await completes without another task', async (open, t) => {
  const folder = openFolder(t)
  const pool = open({ filename, name: 'writeLater', minWorkers: 1, maxWorkers: 1 })
  const file = `${folder.path}/late.txt`
  await pool.run(file)
  const text = await untilItWorks(() => {
    const written = readFileSync(file, 'utf8')
    assert.equal(written, 'written late')
    return written
  })
  assert.equal(text, 'written late')
})

test('a handler may create, use and close a pool of its own', async open => {
  const pool = open({ filename: handler('nested.js'), minWorkers: 2, maxWorkers: 2 })
  const answers = await Promise.all([1, 2, 3, 4].map(depth => pool.run(depth)))
  assert.deepEqual(answers, [[1], [2], [3], [4]])
})

test('a handler of a nested pool may create a pool, and close() resolves while a nested pool stays open', async open => {
  const pool = open({ filename: handler('nested.js'), name: 'deeper', minWorkers: 1, maxWorkers: 1 })
  assert.equal(await pool.run(2), 'bottom')
  assert.equal(await pool.run('left open', { name: 'leaveOpen' }), 'left open')
  await pool.close()
})

test('a pool works after the program has replaced the timers and Date with fakes', async open => {
  const real = { Date, setTimeout, setInterval, setImmediate }
  const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1, maxQueue: 1 })
  try {
    const never = () => ({ ref() {}, unref() {} })
    Object.assign(globalThis, { setTimeout: never, setInterval: never, setImmediate: never })
    globalThis.Date = class extends real.Date {
      static now = () => real.Date.now() + 366 * 24 * 3600 * 1000
    }
    for (let round = 0; round < 20; round++) {
      await pool.room()
      assert.equal(await pool.run(round), round)
    }
    // A deadline is a time on the clock of the caller, here the fake clock.
    assert.equal(await pool.run(1, { deadline: Date.now() + 60_000 }), 1)
    await assert.rejects(pool.run(1, { deadline: Date.now() - 1 }), { code: 'ERR_LIDO_TASK_TIMEOUT' })
    await pool.close()
  } finally {
    Object.assign(globalThis, real)
  }
})

test('a pool runs in a test environment that has no setImmediate and fakes the other timers', async () => {
  const { exitCode, output, errors } = await runProgram(
    `
    const never = () => 7
    Object.assign(globalThis, { setTimeout: never, setInterval: never, queueMicrotask: never })
    delete globalThis.setImmediate
    const { Pool: Copy } = await import(import.meta.resolve(process.env.DOOR) + '?anew')
    const pool = new Copy({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1, maxQueue: 1 })
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

const { 'the host thread': _, ...ownedBackends } = backends
for (const [title, options] of Object.entries(ownedBackends)) {
  test(`a worker serves its tasks after a handler has replaced globals, on ${title}`, async open => {
    const pool = open({ filename: handler('replaces-globals.js'), maxWorkers: 1, ...options })
    const run = (name, more) => pool.run({ a: 1 }, { name, timeout: 60_000, ...more })
    for (let round = 0; round < 2; round++) {
      assert.equal(await run('replaceGlobals'), 'replaced')
      assert.deepEqual(await run('echo'), { a: 1 })
      const error = await rejection(run('fail'))
      assert.deepEqual([error.constructor, error.message, error.list], [RangeError, 'as expected', [1]])
      assert.equal(await run('isCancelled'), false)
      assert.equal((await run('large')).length, 2_000_000)
      assert.deepEqual(await pool.stream(null, { name: 'chunks' }).toArray(), [1, { list: [2] }])
      assert.equal(await run('call', { functions: { ask: ({ question }) => question + 1 } }), 2)
      let done
      await run('progress', { onProgress: value => (done = value.done) })
      assert.equal(done, 1)
    }
    assert.equal(pool.workers[0].id, 1)
  })
}
