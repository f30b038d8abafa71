// Tests of worker processes only. The host survives their crashes, and they exit when their host dies.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { handler } from '../helpers/handler.js'
import { isAlive } from '../helpers/is-alive.js'
import { test } from '../helpers/pool-test.js'
import { startProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'
import { Journal } from './journal.js'

const options = { filename: handler('conformant.js'), minWorkers: 1, maxWorkers: 1, backend: 'process' }
const isUnix = process.platform !== 'win32'

async function untilGone(pid) {
  while (isAlive(pid)) await new Promise(resolve => setTimeout(resolve, 5))
}

for (const [name, signal] of [
  ['segfault', 'SIGSEGV'],
  ['abort', 'SIGABRT'],
]) {
  test(`a handler that crashes its process with ${signal} rejects its task with that signal`, {
    skip: !isUnix,
  }, async open => {
    const pool = open(options)
    const error = await rejection(pool.run(undefined, { name }))
    assert.equal(error.code, 'ERR_LIDO_WORKER_EXIT')
    assert.equal(error.signal, signal)
    assert.equal(error.exitCode, { SIGSEGV: 139, SIGABRT: 134 }[signal])
    assert.equal(await pool.run(2), 2)
  })
}

for (const name of ['spin', 'never']) {
  test(
    `worker processes exit after their host was killed, also with a running handler ('${name}')`,
    { skip: !isUnix },
    async (_, t) => {
      const journal = new Journal(t)
      const { child, ended } = startProgram(`
      const pool = new Pool({ filename: handler('conformant.js'), backend: 'process', minWorkers: 2, maxWorkers: 2 })
      pool.run({ journal: ${JSON.stringify(journal.path)} }, { name: '${name}' })
      await pool.run(1)
      const { appendFileSync } = await import('node:fs')
      appendFileSync(${JSON.stringify(journal.path)}, pool.workers.map(worker => worker.pid).join(' ') + '\\n')`)
      const pids = (await journal.lines(2))
        .find(line => line !== 'started')
        .split(' ')
        .map(Number)
      assert.equal(pids.length, 2)
      child.kill('SIGKILL')
      for (const pid of pids) await untilGone(pid)
      assert.equal((await ended).signal, 'SIGKILL')
    },
  )
}

test('SIGINT, SIGTERM and SIGHUP do not end a worker process', { skip: !isUnix }, async open => {
  const pool = open(options)
  await pool.run(1)
  const [{ pid, id }] = pool.workers
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(pid, signal)
  assert.equal(await pool.run(2), 2)
  assert.equal(pool.workers[0].id, id)
})

test('a killed worker process rejects its task with the signal', { skip: !isUnix }, async (open, t) => {
  const journal = new Journal(t)
  const pool = open(options)
  const call = rejection(pool.run({ journal: journal.path }, { name: 'never' }))
  await journal.lines(1)
  process.kill(pool.workers[0].pid, 'SIGKILL')
  assert.equal((await call).signal, 'SIGKILL')
  assert.equal(await pool.run(2), 2)
})

test('fifteen worker exits leave no file descriptor open', {
  skip: process.platform !== 'linux',
}, async open => {
  const pool = open(options)
  const descriptors = () => readdirSync('/proc/self/fd').length
  await rejection(pool.run(1, { name: 'exit' }))
  await pool.run(1)
  const before = descriptors()
  for (let round = 0; round < 15; round++) await rejection(pool.run(1, { name: 'exit' }))
  await pool.run(1)
  assert.ok(descriptors() <= before, `${descriptors()} descriptors, ${before} before`)
})

test('destroy() kills a worker process in an endless loop', async (open, t) => {
  const journal = new Journal(t)
  const pool = open(options)
  const call = rejection(pool.run({ journal: journal.path }, { name: 'spin' }))
  await journal.lines(1)
  const [{ pid }] = pool.workers
  await pool.destroy()
  await call
  await untilGone(pid)
})

test('a worker process does not inherit the debugger of the host', async () => {
  const { ended } = startProgram(
    `const pool = new Pool({ filename: handler('conformant.js'), backend: 'process', maxWorkers: 1 })
     console.log(await pool.run(42))`,
    { nodeArguments: ['--inspect=127.0.0.1:0'], env: { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' } },
  )
  const { output, errors, exitCode } = await ended
  assert.deepEqual([exitCode, output], [0, '42\n'])
  assert.equal(errors.match(/Debugger listening/g).length, 1)
})

test('the constructor refuses options that a worker process cannot have', open => {
  for (const [option, value] of [
    ['resourceLimits', { stackSizeMb: 4 }],
    ['env', Symbol.for('nodejs.worker_threads.SHARE_ENV')],
  ]) {
    assert.throws(() => open({ ...options, [option]: value }), { code: 'ERR_LIDO_INVALID_OPTION' }, option)
  }
  const workerData = { words: new SharedArrayBuffer(4) }
  assert.throws(() => open({ ...options, workerData }), { option: 'workerData' })
})

test('all messages of a handler arrive before close() resolves', async open => {
  const pool = open(options)
  let came = 0
  pool.on('message', () => came++)
  await pool.run(Array(300).fill('x'.repeat(4096)), { name: 'sendAll' })
  await pool.close()
  assert.equal(came, 300)
})

test('a task runs although its worker process gets SIGINT, SIGTERM or SIGHUP while it starts', {
  skip: !isUnix,
}, async open => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    const pool = open(options)
    const answer = pool.run(signal)
    pool.workers[0].process.kill(signal)
    assert.equal(await answer, signal)
  }
  const pool = open({ ...options, restart: { failures: 1 } })
  pool.on('workerCreate', worker => worker.process.kill('SIGTERM'))
  assert.match((await rejection(pool.run(1))).message, /SIGTERM/)
  pool.removeAllListeners('workerCreate')
  while ((await pool.run(2).catch(error => error.code)) !== 2)
    await new Promise(resolve => setTimeout(resolve, 20))
})
