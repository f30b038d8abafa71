// A soak runs very many tasks of all kinds in a pool, kills workers meanwhile, and checks the outcome of every task.
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'lido'
import { Killer } from './killer.js'
import { kindFor, kindNamed } from './kinds.js'
import { Ledger } from './ledger.js'
import { countHoldings, judge, leftOver, takeSample } from './memory.js'
import { mix } from './random.js'

/** More than the most tasks in flight, so that no place is used again before its task has settled. */
const PLACES = 2 ** 18
/** The number of tasks in a row that have the same limit of tasks in flight. */
const BLOCK = 2000
const WINDOWS = [1, 8, 32, 64, 64, 128, 256, 256, 512, 1024, 1024, 5000]
/** The run is stuck when no task settles for this time. */
const STUCK_AFTER_MS = 20_000
const LOOK_AGAIN_MS = 50
const LONGEST_END_MS = 10_000

/**
 * @param options `tasks`, `endsAt` (on the clock of `performance.now()`), `seed`, `transport`, `threads`, `concurrency`,
 *   `killEveryMs` (0: never), `samples` (the number of memory samples; 0: none), `onProgress`
 */
export async function soak(options) {
  const { samples: sampleCount, threads, concurrency } = options
  await warmUp()
  const holdingsBefore = countHoldings()
  const startedAt = performance.now()
  const ledger = new Ledger(PLACES)
  const pool = new Pool({
    filename: new URL('handlers.js', import.meta.url),
    name: 'number',
    minWorkers: threads,
    maxWorkers: threads,
    concurrentTasksPerWorker: concurrency,
    workerData: ledger.starts,
    transport: options.transport,
  })
  pool.on('error', error => ledger.say(`the pool emitted an 'error' event: ${error?.stack ?? error}`))
  const run = new Run(pool, ledger, options)
  const samples = []
  const legs = Math.max(sampleCount, 1)
  for (let leg = 1; leg <= legs && !run.isStuck; leg++) {
    await run.upTo(leg / legs)
    if (sampleCount > 0 && !run.isStuck) samples.push({ settled: ledger.settled, ...(await takeSample()) })
  }
  const { transport } = pool.stats()
  await end(pool, run, ledger)
  ledger.checkDeaths(2 * concurrency)
  const memory = judge(samples)
  for (const violation of memory.violations) ledger.say(violation)
  await checkHoldings(holdingsBefore, ledger)
  return {
    seconds: (performance.now() - startedAt) / 1000,
    transport,
    tasks: ledger.settled,
    kills: run.killer.kills,
    exits: ledger.exits,
    rows: ledger.rows,
    samples,
    memory: memory.rows,
    violations: ledger.violations,
    violationCount: ledger.violationCount,
  }
}

class Run {
  killer
  isStuck = false
  #pool
  #ledger
  #options
  #startedAt = performance.now()
  #nextIndex = 0
  #limit = 0
  #deadline = 0
  #onDone = null
  #isFilling = false

  constructor(pool, ledger, options) {
    this.#pool = pool
    this.#ledger = ledger
    this.#options = options
    this.killer = new Killer(pool, ledger, name => this.#submit(kindNamed(name)), options.seed)
  }

  /** Submits tasks until this share of all tasks is submitted. Resolves when they have settled. */
  async upTo(share) {
    const { tasks, endsAt, killEveryMs, onProgress } = this.#options
    this.#limit = endsAt === null ? Math.floor(tasks * share) : Number.POSITIVE_INFINITY
    this.#deadline =
      endsAt === null ? Number.POSITIVE_INFINITY : this.#startedAt + (endsAt - this.#startedAt) * share
    this.killer.start(killEveryMs)
    let seen = -1
    let seenAt = performance.now()
    const watch = setInterval(() => {
      onProgress?.(this.#ledger, this.killer.kills)
      if (this.#ledger.settled !== seen) {
        seen = this.#ledger.settled
        seenAt = performance.now()
      } else if (performance.now() - seenAt > STUCK_AFTER_MS) {
        this.isStuck = true
        this.#onDone()
      }
    }, 1000)
    await new Promise(resolve => {
      this.#onDone = resolve
      this.#fill()
    })
    clearInterval(watch)
    this.killer.stop()
  }

  get #isOver() {
    return this.isStuck || this.#nextIndex >= this.#limit || performance.now() >= this.#deadline
  }

  #fill() {
    if (this.#isFilling) return
    this.#isFilling = true
    while (!this.#isOver && this.#ledger.inFlight < this.#window) {
      this.#submit(kindFor(mix(this.#options.seed, this.#nextIndex)))
    }
    this.#isFilling = false
    if (this.#isOver) {
      this.killer.stop()
      if (this.#ledger.inFlight === 0) this.#onDone()
    }
  }

  get #window() {
    const block = Math.floor(this.#nextIndex / BLOCK)
    return WINDOWS[mix(this.#options.seed ^ 0x5eed, block) % WINDOWS.length]
  }

  #submit(kind) {
    const index = this.#nextIndex++
    const chance = mix(this.#options.seed + 1, index)
    const controller = kind.isAborted !== null || kind.isWatched ? new AbortController() : null
    const sent = kind.payload(index, chance)
    const task = { kind, index, sent, isSettled: false, wasAborted: false, abort: null }
    this.#ledger.onSubmitted(task)
    const payload = kind.wrap === null ? sent : kind.wrap(sent)
    const runOptions = { name: kind.handler, exclusive: kind.exclusive, signal: controller?.signal }
    this.#pool.run(payload, runOptions).then(
      value => {
        this.#ledger.onFulfilled(task, value)
        this.#onSettled()
      },
      error => {
        this.#ledger.onRejected(task, error)
        this.#onSettled()
      },
    )
    if (kind.isAborted !== null) {
      task.abort = () => {
        if (task.isSettled) return
        task.wasAborted = true
        controller.abort()
      }
      if (kind.isAborted === 'at once') task.abort()
      else if (kind.isAborted === 'soon') setImmediate(task.abort)
    }
    return task
  }

  #onSettled() {
    const { inFlight } = this.#ledger
    if (inFlight <= this.#window >> 1 || this.#isOver) this.#fill()
  }
}

/** Runs a pool once, so that resources which a pool opens once in a process exist before the first count. */
async function warmUp() {
  const pool = new Pool({
    filename: new URL('handlers.js', import.meta.url),
    name: 'number',
    minWorkers: 1,
    maxWorkers: 1,
    workerData: new Uint8Array(new SharedArrayBuffer(16)),
  })
  await pool.run(1)
  await pool.close()
}

async function end(pool, run, ledger) {
  const { tasks, workers } = pool.stats()
  if (run.isStuck) {
    const held = workers.map(({ id, state, usage }) => `${id} ${state} ${usage}`).join(', ')
    ledger.say(
      `stuck: ${ledger.inFlight} tasks are not settled. Counts: ${JSON.stringify(tasks)}. Workers: ${held}`,
    )
    return await pool.destroy()
  }
  const { cutOff } = await pool.close()
  if (cutOff !== 0) ledger.say(`close() reports ${cutOff} unfinished tasks, but all tasks had settled`)
  const { accepted, fulfilled, rejected, cancelled, waiting, inFlight } = pool.stats().tasks
  if (
    accepted !== ledger.submitted ||
    accepted !== fulfilled + rejected + cancelled ||
    waiting + inFlight !== 0
  ) {
    ledger.say(
      `the soak submitted ${ledger.submitted} tasks, but the pool counts ${JSON.stringify(pool.stats().tasks)}`,
    )
  }
}

async function checkHoldings(before, ledger) {
  const deadline = performance.now() + LONGEST_END_MS
  for (;;) {
    const left = leftOver(before, countHoldings())
    if (left.length === 0) return
    if (performance.now() > deadline) {
      return ledger.say(`left behind: ${JSON.stringify(left)}. Before the pool: ${JSON.stringify(before)}`)
    }
    await pause(LOOK_AGAIN_MS)
  }
}
