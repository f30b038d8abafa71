// Keeps one run of the work in a process of its own: without the pool, in the pool with a bounded queue, or in the
// pool with every row submitted at once. main.js starts it and is told the figures.
import { performance } from 'node:perf_hooks'
import { Pool } from 'lido'
import { EventLoopDelay } from '../shared/event-loop-delay.js'
import { Latencies } from '../shared/latencies.js'
import { MemoryPeak } from '../shared/memory-peak.js'
import { meetParent, tellParent } from '../shared/parent.js'
import { streamPlaces } from './dataset.js'
import { OrderedFile } from './ordered-file.js'

const rowsPerReport = 500

const settings = await meetParent()
const delay = new EventLoopDelay()
const latencies = new Latencies()
const memory = new MemoryPeak()
const file = new OrderedFile(settings.output)
let rowsDone = 0
let peakQueue = 0
let startedAt = 0
let finishedAt = 0

const ways = { alone, bounded, unbounded }
await ways[settings.way]()

async function alone() {
  const { default: describePlaces } = await import('./worker.js')
  await start()
  for await (const task of readTasks()) {
    finish(task, describePlaces(task.rows))
    await file.room()
  }
  await report()
}

async function bounded() {
  const pool = await openPool(settings.maxQueue)
  await start()
  for await (const task of readTasks()) {
    await file.room()
    await pool.room()
    submit(pool, task)
  }
  await pool.close()
  await report()
}

async function unbounded() {
  const pool = await openPool(Infinity)
  await start()
  for await (const task of readTasks()) submit(pool, task)
  await pool.close()
  await report()
}

// A task without rows to every worker: they have read the airports before the clock starts, as `alone` has.
async function openPool(maxQueue) {
  const { maxWorkers } = settings
  const filename = new URL('./worker.js', import.meta.url)
  const pool = new Pool({ filename, minWorkers: maxWorkers, maxWorkers, maxQueue, closeTimeout: Infinity })
  await Promise.all(Array.from({ length: maxWorkers }, () => pool.run([])))
  return pool
}

function submit(pool, task) {
  pool.run(task.rows).then(text => finish(task, text))
  peakQueue = Math.max(peakQueue, pool.queueSize)
}

async function* readTasks() {
  let number = 0
  let rows = []
  for await (const row of streamPlaces(settings.rowLimit)) {
    rows.push(row)
    if (rows.length < settings.rowsPerTask) continue
    yield { number: number++, rows, readAt: performance.now() }
    rows = []
  }
  if (rows.length > 0) yield { number, rows, readAt: performance.now() }
}

async function start() {
  await delay.start()
  memory.start()
  startedAt = performance.now()
}

function finish(task, text) {
  file.put(task.number, text)
  finishedAt = performance.now()
  latencies.record(finishedAt - task.readAt)
  const before = rowsDone
  rowsDone += task.rows.length
  if (Math.floor(before / rowsPerReport) === Math.floor(rowsDone / rowsPerReport)) return
  memory.sample()
  tellParent({ kind: 'progress', rowsDone })
}

async function report() {
  const seconds = (finishedAt - startedAt) / 1000
  const checksum = await file.finish()
  const loopDelayMs = await delay.stop()
  tellParent({
    kind: 'figures',
    figures: {
      rowsDone,
      checksum,
      peakQueue,
      seconds,
      perSecond: rowsDone / seconds,
      latencyMs: latencies.figures(),
      loopDelayMs,
      memory: memory.stop(),
    },
  })
}
