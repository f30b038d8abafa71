// Timers, servers, streams and the inspector of a worker keep running, idle and under load. The event loop of the host keeps
// running too.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Session } from 'node:inspector'
import { Worker } from 'node:worker_threads'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { reached, sharedWords } from '../helpers/shared-words.js'
import { SteadyLoad } from '../helpers/steady-load.js'

const filename = handler('busy.js')
const TICKS = 0
const MICROTASKS = 0
const OTHER = 2
const TICK_MS = 10
/**
 * The allowed number of tasks between two ticks, as a multiple of the number that fits at the speed of the fastest task. The event loop of a
 * worker turns every 5 ms, and a tick may just miss two turns.
 */
const GENEROUS = 3
const REQUESTS = 5

/** The loads of the tests: the handler that the pool runs, and the slots of its worker. */
const loads = [
  { title: 'idle', name: null, slots: 1 },
  { title: 'under synchronous tasks', name: 'default', slots: 1 },
  { title: 'under asynchronous tasks in 8 slots', name: 'later', slots: 8 },
  {
    title: 'under synchronous tasks, transport: messages',
    name: 'default',
    slots: 1,
    transport: 'messages',
  },
]

for (const { title, name, slots, inFlight = 64, transport = 'shared-memory' } of loads) {
  const options = { minWorkers: 1, maxWorkers: 1, concurrentTasksPerWorker: slots, transport }
  const openBusy = (open, words = sharedWords(3)) => open({ filename, ...options, workerData: words })
  const startLoad = pool => (name === null ? null : new SteadyLoad(pool, name, inFlight))

  test(`a timer in a worker ticks on time (${title})`, async open => {
    const words = sharedWords(3)
    const pool = openBusy(open, words)
    await pool.run({ word: TICKS, everyMs: TICK_MS }, { name: 'startTicking' })
    const load = startLoad(pool)
    await load?.more(1)
    await reached(words, TICKS, Atomics.load(words, TICKS) + 60)
    await load?.more(1)
    await load?.stop()
    const { most, fastestMs } = await pool.run(undefined, { name: 'ticked' })
    assert.ok(name === null ? most === 0 : most > 0)
    const inATick = TICK_MS / fastestMs
    assert.ok(most <= GENEROUS * inATick, `${most} tasks between two ticks, with time for ${inATick}`)
  })

  test(`a server in a worker answers (${title})`, async open => {
    const pool = openBusy(open)
    const { port, threadId } = await pool.run(undefined, { name: 'openServer' })
    const load = startLoad(pool)
    for (let request = 0; request < REQUESTS; request++) {
      await load?.more(1)
      const response = await fetch(`http://127.0.0.1:${port}/`)
      assert.equal(await response.text(), `thread ${threadId}`)
    }
    await load?.more(1)
    await load?.stop()
  })

  test(`a worker can be inspected from the host (${title})`, async (open, t) => {
    const pool = openBusy(open)
    await pool.run(1)
    const session = new Session()
    session.connect()
    t.after(() => session.disconnect())
    const load = startLoad(pool)
    await load?.more(1)
    const attached = once(session, 'NodeWorker.attachedToWorker')
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
    const [{ params }] = await attached
    for (let id = 1; id <= REQUESTS; id++) {
      const answered = once(session, 'NodeWorker.receivedMessageFromWorker')
      const message = { id, method: 'Runtime.evaluate', params: { expression: '40 + 2' } }
      session.post('NodeWorker.sendMessageToWorker', {
        sessionId: params.sessionId,
        message: JSON.stringify(message),
      })
      const [answer] = await answered
      assert.equal(JSON.parse(answer.params.message).result.result.value, 42)
    }
    await load?.more(1)
    await load?.stop()
  })

  test(`microtasks that a handler leaves behind run (${title})`, async open => {
    const words = sharedWords(3)
    const pool = openBusy(open, words)
    const load = startLoad(pool)
    for (let round = 1; round <= 3; round++) {
      await pool.run({ microtasks: MICROTASKS, promises: OTHER }, { name: 'leaveBehind' })
      await Promise.all([reached(words, MICROTASKS, round), reached(words, OTHER, round)])
    }
    await load?.stop()
  })

  test(`printed lines arrive once and in order (${title})`, async () => {
    const { output, exitCode, errors } = await runProgram(`
      const words = new Int32Array(new SharedArrayBuffer(12))
      const options = ${JSON.stringify(options)}
      const pool = new Pool({ filename: handler('busy.js'), ...options, workerData: words })
      let isOver = false
      const load = ${JSON.stringify(name)}
      const runners = Array.from({ length: load === null ? 0 : ${inFlight} }, async () => {
        while (!isOver) await pool.run(1, { name: load })
      })
      for (let line = 0; line < 10; line++) await pool.run('line ' + line, { name: 'print' })
      isOver = true
      await Promise.all(runners)
      await pool.close()
    `)
    assert.equal(exitCode, 0, errors)
    assert.equal(output, Array.from({ length: 10 }, (_, line) => `line ${line}\n`).join(''))
  })
}

test('timers and servers of the host run while the host polls for results', async (open, t) => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, workerData: sharedWords(3) })
  const server = createServer((_request, response) => response.end('host')).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  let ticks = 0
  const timer = setInterval(() => ticks++, TICK_MS)
  t.after(() => clearInterval(timer))
  const load = new SteadyLoad(pool)
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    async function ask() {
      const texts = []
      for (let request = 0; request < ${REQUESTS}; request++) texts.push(await (await fetch(workerData)).text())
      parentPort.postMessage(texts)
    }
    ask()
  `
  const client = new Worker(source, { eval: true, workerData: `http://127.0.0.1:${server.address().port}/` })
  t.after(() => client.terminate())
  const [texts] = await once(client, 'message')
  assert.deepEqual(texts, new Array(REQUESTS).fill('host'))
  const before = ticks
  while (ticks < before + 10) await load.more(1)
  await load.stop()
})

test('synchronous and asynchronous tasks of a worker all progress under load', async open => {
  const pool = open({
    filename,
    minWorkers: 1,
    maxWorkers: 1,
    concurrentTasksPerWorker: 8,
    workerData: sharedWords(3),
  })
  const kinds = ['default', 'later', 'laterTurn'].map(name => new SteadyLoad(pool, name, 32))
  for (const load of kinds) await load.more(200)
  for (const load of kinds) await load.stop()
})
