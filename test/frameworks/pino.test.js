// `lido/pino`: the logger of the host writes the lines of handlers.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe } from 'node:test'
import { logWorkers, workerLogger } from 'lido/pino'
import { pino } from 'pino'
import { backends } from '../helpers/backends.js'
import { openFolder } from '../helpers/folder.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { until } from './client.js'
import { openApp } from './fastify-app.js'
import { logEverything, workerOptions } from './handlers/logged-values.js'

const filename = new URL('./handlers/logging.js', import.meta.url)
const separate = Object.entries(backends).filter(([, { backend }]) => backend !== 'inline')

/** A logger of pino, and the lines that it has written. */
function collecting(options) {
  const lines = []
  const write = (chunk, _encoding, done) => {
    lines.push(JSON.parse(chunk))
    done()
  }
  return { lines, logger: pino({ base: null, ...options }, new Writable({ write })) }
}

function openLogged(open, options, loggerOptions) {
  const { lines, logger } = collecting(loggerOptions)
  const pool = open({ filename, maxWorkers: 1, ...options })
  logWorkers(pool, logger)
  return { pool, lines, logger }
}

/** Without what differs between two runs and two threads. */
const comparable = lines =>
  JSON.parse(JSON.stringify(lines, (key, value) => (key === 'stack' ? value.split('\n')[0] : value))).map(
    ({ time, worker, task, handler, ...line }) => (time === 'own' ? { time, ...line } : line),
  )

for (const [title, options] of Object.entries(backends)) {
  describe(`a logger in handlers (${title})`, () => {
    test('writes what a plain logger of pino writes', async open => {
      const plain = collecting(workerOptions)
      logEverything(plain.logger)
      const { pool, lines } = openLogged(open, options)
      await pool.run(null, { name: 'everything' })
      assert.deepEqual(comparable(lines), comparable(plain.lines))
    })

    test('names the worker, the task and the handler, and writes before the result arrives', async open => {
      const { pool, lines } = openLogged(open, options, { name: 'host' })
      for (let value = 1; value <= 20; value++) {
        await pool.run(value)
        assert.equal(lines.at(-1).value, value)
      }
      assert.equal(lines.length, 20)
      assert.equal(new Set(lines.map(({ task }) => task)).size, 20)
      for (const line of lines) assert.deepEqual([line.worker, line.handler], [1, 'default'])
    })

    test('loses no line and keeps the order when the pool closes', async open => {
      const { pool, lines } = openLogged(open, options)
      const running = pool.run(20_000, { name: 'burst' })
      const last = pool.run(null, { name: 'late' })
      await pool.close()
      await Promise.all([running, last])
      assert.equal(lines.at(-1).msg, 'late')
      const indexes = lines.slice(0, -1).map(({ index }) => index)
      assert.deepEqual(
        indexes,
        Array.from({ length: 20_000 }, (_, index) => index),
      )
    })

    test('follows the level of the logger of the host', async open => {
      const { pool, lines, logger } = openLogged(open, options)
      // The level reaches the worker by a message, which tasks may overtake.
      const isDebugEnabled = async () => (await pool.run(null, { name: 'levels' }))[0]
      while (await isDebugEnabled());
      assert.deepEqual(lines, [])
      logger.level = 'debug'
      while (!(await isDebugEnabled()));
      assert.equal(lines.at(-1).msg, 'debug')
      logger.level = 'silent'
      const { length } = lines
      await pool.run(2)
      assert.equal(lines.length, length)
    })
  })
}

for (const [title, options] of separate) {
  describe(`the last lines of a worker (${title})`, () => {
    test('are written when the handler exits or throws outside its promise', async open => {
      const { pool, lines } = openLogged(open, { ...options, output: 'pipe' })
      await assert.rejects(pool.run(null, { name: 'exit' }))
      await assert.rejects(pool.run(null, { name: 'crash' }))
      assert.deepEqual(
        lines.map(({ msg }) => msg),
        ['before exit', 'at exit', 'before crash', 'at crash'],
      )
    })

    test('are written when the host kills a handler that loops without end', async open => {
      const { pool, lines } = openLogged(open, { ...options, cancelGrace: 0 })
      const controller = new AbortController()
      const running = pool.run(null, { name: 'loop', signal: controller.signal })
      await until(() => lines.length === 5)
      controller.abort()
      await assert.rejects(running)
      await pool.destroy()
      assert.deepEqual(
        lines.map(({ index }) => index),
        [0, 1, 2, 3, 4],
      )
    })
  })
}

test('a handler that logs in one turn does not fill the heap of its worker', async open => {
  let bytes = 0
  const write = (chunk, _encoding, done) => {
    bytes += chunk.length
    done()
  }
  const pool = open({ filename, maxWorkers: 1, resourceLimits: { maxOldGenerationSizeMb: 16 } })
  logWorkers(pool, pino(new Writable({ write })))
  await pool.run(200_000, { name: 'burst' })
  assert.ok(bytes > 20_000_000)
})

test('a line has the time of the worker, in the form of the logger of the host', async open => {
  const before = Date.now()
  const { isoTime, unixTime, nullTime, epochTime } = pino.stdTimeFunctions
  const times = []
  for (const timestamp of [epochTime, isoTime, unixTime, nullTime, () => ',"at":"custom"']) {
    const { pool, lines } = openLogged(open, {}, { timestamp })
    await pool.run(1)
    times.push(lines[0].at ?? lines[0].time)
  }
  const [epoch, iso, unix, none, custom] = times
  assert.ok(epoch >= before && epoch <= Date.now())
  assert.ok(Date.parse(iso) >= before && iso.endsWith('Z'))
  assert.ok(unix >= Math.floor(before / 1000) && unix <= Date.now())
  assert.deepEqual([none, custom], [undefined, 'custom'])
})

test('the settings of the logger of the host apply: bindings, redaction, formatters, mixin, keys and hooks', async open => {
  const seen = []
  const { pool, lines } = openLogged(
    open,
    {},
    {
      base: { service: 'shop' },
      redact: ['value'],
      formatters: { level: label => ({ level: label }), log: fields => ({ ...fields, formatted: true }) },
      mixin: () => ({ mixed: 1 }),
      messageKey: 'message',
      nestedKey: 'fields',
      hooks: {
        logMethod(args, method, level) {
          seen.push(level)
          method.apply(this, args)
        },
      },
    },
  )
  await pool.run('private')
  const [{ time, ...line }] = lines
  assert.deepEqual(line, {
    level: 'info',
    service: 'shop',
    fields: { mixed: 1, worker: 1, task: 1, handler: 'default', value: '[Redacted]', formatted: true },
    message: 'a line',
  })
  assert.deepEqual(seen, [30])
})

test('a level that only the worker knows has the next lower level of the host', async open => {
  const { pool, lines } = openLogged(open, {}, { level: 'trace' })
  await pool.run(null, { name: 'notice' })
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [[30, 'a level of the worker']],
  )
  const known = openLogged(open, {}, { customLevels: { notice: 35 } })
  await known.pool.run(null, { name: 'notice' })
  assert.equal(known.lines[0].level, 35)
})

test('the logger of Fastify writes the lines of handlers', async (_open, t) => {
  const lines = []
  const stream = { write: line => lines.push(JSON.parse(line)) }
  const app = await openApp(t, { filename, maxWorkers: 1 }, () => {}, { logger: { level: 'info', stream } })
  logWorkers(app.pool, app.log)
  await app.pool.run('x')
  const { msg, handler, pid } = lines.find(({ value }) => value === 'x')
  assert.deepEqual([msg, handler, pid], ['a line', 'default', process.pid])
})

test('eight workers that log to a transport have one thread beside them', async (_open, t) => {
  const { path } = openFolder(t)
  const file = join(path, 'log.txt')
  const { output, errors } = await runProgram(`
    import { logWorkers } from '${import.meta.resolve('lido/pino')}'
    import { pino } from '${import.meta.resolve('pino')}'
    const transport = pino.transport({ target: 'pino/file', options: { destination: ${JSON.stringify(file)} } })
    const pool = new Pool({ filename: '${filename}', minWorkers: 8, maxWorkers: 8 })
    logWorkers(pool, pino(transport))
    await pool.broadcast('x')
    const threads = report => report.workers.reduce((sum, worker) => sum + 1 + threads(worker), 0)
    console.log(threads({ workers: [], ...process.report.getReport() }))
    await pool.close()
    transport.end()
  `)
  assert.equal(errors, '')
  assert.equal(Number(output), 9)
  assert.equal(readFileSync(file, 'utf8').trim().split('\n').length, 8)
})

test('without a logger of the host, lines go to its output', async () => {
  const { output } = await runProgram(`
    const pool = new Pool({ filename: '${filename}', maxWorkers: 1 })
    await pool.run('in a worker')
    await pool.run(null, { name: 'levels' })
    await pool.close()
    const { default: line, levels } = await import('${filename}')
    line('on the main thread')
    levels()
  `)
  const lines = output
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ value, worker }) => [value, worker]),
    [
      ['in a worker', 1],
      ['on the main thread', undefined],
    ],
  )
})

test('options that the logger of the host decides, and values that are no pool or logger, are refused', open => {
  const pool = open({ filename, minWorkers: 0 })
  assert.throws(() => workerLogger({ transport: { target: 'pino/file' } }), /'transport'.*logger of the host/)
  assert.throws(() => workerLogger({ timestamp: false }), /'timestamp'/)
  assert.throws(() => logWorkers({}, pino()), /needs a pool/)
  assert.throws(() => logWorkers(pool, console), /no method 'fatal'/)
  assert.throws(() => logWorkers(pool, null), /no method/)
})
