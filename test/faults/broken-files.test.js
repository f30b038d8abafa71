// A handler's file that cannot load: every call is told so, with the file and the cause, the processor is left alone, and
// a mended file works again.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { WorkerStartError } from 'lido'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection, rejections } from '../helpers/rejection.js'
import { untilItWorks } from '../helpers/retry.js'
import { sharedWords } from '../helpers/shared-words.js'

const mostStarts = 25
const mostProcessorShare = 0.05

const breakages = {
  'an ES module that is missing': ['handler.mjs', null, /There is no file/],
  'an ES module that throws': ['handler.mjs', 'throw new RangeError("broken at load")', /broken at load/],
  'an ES module that does not parse': ['handler.mjs', 'export default {{', /SyntaxError|Unexpected token/],
  'an ES module that exits': ['handler.mjs', 'process.exit(9)', /exit code 9/],
  'an ES module whose await rejects': [
    'handler.mjs',
    'await Promise.reject(new Error("awaited"))',
    /awaited/,
  ],
  'an ES module that imports what is missing': ['handler.mjs', 'import "./missing.mjs"', /missing\.mjs/],
  'a CommonJS file that is missing': ['handler.cjs', null, /There is no file/],
  'a CommonJS file that throws': ['handler.cjs', 'throw new RangeError("broken at load")', /broken at load/],
  'a CommonJS file that does not parse': [
    'handler.cjs',
    'module.exports = {{',
    /SyntaxError|Unexpected token/,
  ],
  'a CommonJS file that exits': ['handler.cjs', 'process.exit(9)', /exit code 9/],
  'a file that throws nothing': ['handler.mjs', 'throw null', /null/],
}

const mended = { '.mjs': 'export default value => value', '.cjs': 'module.exports = value => value' }

for (const [what, [name, source, cause]] of Object.entries(breakages)) {
  test(`${what}: 100 of 100 calls are told, nothing spins, and it works once it is mended`, async (open, t) => {
    const folder = openFolder(t)
    const file = source === null ? `${folder.path}/${name}` : folder.write(name, source)
    const pool = open({ filename: file, minThreads: 1, maxThreads: 2 })
    let starts = pool.workers.length
    pool.on('workerCreate', worker => {
      if (worker.id > starts) starts = worker.id
    })
    const together = await rejections(Array.from({ length: 50 }, () => pool.run(1)))
    const oneByOne = []
    for (let call = 0; call < 50; call++) oneByOne.push(await rejection(pool.run(1)))
    for (const error of [...together, ...oneByOne]) {
      assert.ok(error instanceof WorkerStartError, String(error))
      assert.equal(error.filename, file)
      assert.ok(error.message.includes(file), error.message)
      assert.match(error.message, cause)
    }
    assert.ok(starts <= mostStarts, `${starts} workers were started`)

    const before = process.cpuUsage()
    const beganAt = performance.now()
    await pause(1000)
    const { user, system } = process.cpuUsage(before)
    const share = (user + system) / 1000 / (performance.now() - beganAt)
    assert.ok(share < mostProcessorShare, `${share} of a processor was used`)

    folder.write(name, mended[name.slice(-4)])
    assert.equal(await untilItWorks(() => pool.run('mended')), 'mended')
  })
}

test('what the file threw is the cause: its class, message and own fields', async (open, t) => {
  const file = openFolder(t).write(
    'handler.mjs',
    'throw Object.assign(new RangeError("broken"), { code: "ERR_OWN" })',
  )
  const pool = open({ filename: file, minThreads: 1, maxThreads: 1 })
  const { cause, stage, code } = await rejection(pool.run(1))
  assert.ok(cause instanceof RangeError)
  assert.deepEqual(
    [cause.message, cause.code, stage, code],
    ['broken', 'ERR_OWN', 'load', 'ERR_LIDO_WORKER_START'],
  )
})

test('a CommonJS file that throws is evaluated once for each worker', async (open, t) => {
  const source = `const { workerData } = require('node:worker_threads')
    Atomics.add(workerData, 0, 1)
    throw new Error('evaluated')`
  const file = openFolder(t).write('handler.cjs', source)
  const evaluations = sharedWords(1)
  const pool = open({ filename: file, minThreads: 1, maxThreads: 1, workerData: evaluations })
  await rejections([1, 2, 3, 4, 5].map(payload => pool.run(payload)))
  const started = pool.workers.at(-1)?.id ?? 1
  await pool.destroy()
  assert.ok(evaluations[0] <= started, `${evaluations[0]} evaluations by ${started} workers`)
})

test('a pool with a broken file and nothing to do stays quiet', async (open, t) => {
  const file = openFolder(t).write('handler.mjs', 'throw new Error("broken")')
  const pool = open({ filename: file, minThreads: 2, maxThreads: 4 })
  const told = []
  pool.on('error', error => told.push(error))
  await pause(1000)
  assert.ok(told.length > 0 && told.length <= mostStarts, `${told.length} errors were told`)
  for (const error of told) assert.ok(error instanceof WorkerStartError)
})

const badCalls = {
  'is missing': [null, /missing|find/],
  throws: ['throw new Error("broken at load")', /broken at load/],
  'does not parse': ['export default {{', /SyntaxError|Unexpected/],
  'imports what is missing': ['import "./absent.mjs"', /absent\.mjs/],
}

for (const [what, [source, cause]] of Object.entries(badCalls)) {
  test(`a call's own file that ${what} rejects that call alone; mended, it works on the same worker`, async (open, t) => {
    const folder = openFolder(t)
    const name = 'own-missing.mjs'
    const file = source === null ? `${folder.path}/${name}` : folder.write(name, source)
    const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1 })
    for (let call = 0; call < 20; call++) {
      const [before, bad, after] = await Promise.allSettled([
        pool.run(1),
        pool.run(2, { filename: file }),
        pool.run(3),
      ])
      assert.deepEqual([before.value, after.value], [1, 3])
      assert.ok(bad.reason instanceof WorkerStartError, String(bad.reason))
      assert.equal(bad.reason.filename, file)
      assert.match(bad.reason.message, cause)
    }
    folder.write('absent.mjs', '')
    folder.write(name, mended['.mjs'])
    assert.equal(await untilItWorks(() => pool.run('mended', { filename: file })), 'mended')
    assert.equal(pool.workers[0].id, 1)
  })
}

test("a call's own CommonJS file works on the same worker once it is mended", async (open, t) => {
  const folder = openFolder(t)
  const file = folder.write('own.cjs', 'throw new Error("broken at load")')
  const pool = open({ minThreads: 1, maxThreads: 1 })
  await assert.rejects(pool.run(1, { filename: file }), /broken at load/)
  folder.write('own.cjs', mended['.cjs'])
  assert.equal(await untilItWorks(() => pool.run('mended', { filename: file })), 'mended')
  assert.equal(pool.workers[0].id, 1)
})

test("a call's own file that imports a broken one works once that one is mended", async (open, t) => {
  const folder = openFolder(t)
  folder.write('inner.mjs', 'throw new Error("broken inside")')
  const file = folder.write('own.mjs', "import './inner.mjs'\nexport default value => value")
  const pool = open({ minThreads: 1, maxThreads: 1 })
  await assert.rejects(pool.run(1, { filename: file }), /broken inside/)
  folder.write('inner.mjs', '')
  assert.equal(await untilItWorks(() => pool.run('mended', { filename: file })), 'mended')
})

test("a call's own file that exits at load is that call's WorkerStartError; the others are answered", async (open, t) => {
  const file = openFolder(t).write('own.mjs', 'process.exit(9)')
  const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1 })
  const [before, bad, after] = await Promise.allSettled([
    pool.run(1),
    pool.run(2, { filename: file }),
    pool.run(3),
  ])
  assert.deepEqual([before.value, after.value], [1, 3])
  assert.ok(bad.reason instanceof WorkerStartError, String(bad.reason))
  assert.equal(bad.reason.filename, file)
})

test('a file that is broken for one name only serves the others', async open => {
  const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1 })
  for (let call = 0; call < 50; call++)
    await assert.rejects(pool.run(1, { name: `missing${call}` }), WorkerStartError)
  assert.equal(await pool.run('x'), 'x')
  assert.equal(pool.workers[0].id, 1)
})
