// Records the outcome of every task and checks whether the outcome is allowed. A task may fail with its worker only when that
// worker was killed. A task may be cancelled only when its signal was aborted.
import { TaskCancelledError, WorkerExitError, WorkerStartError } from 'lido'
import { kinds } from './kinds.js'

const MOST_KEPT = 10
/** The arrays have this size from the start. If they grew, the soak would count their growth as memory of the pool. */
const MOST_WORKERS = 2 ** 20

export class Ledger {
  /** How often the task in each place was started. Later tasks use the places again. */
  starts
  violations = []
  violationCount = 0
  settled = 0
  submitted = 0
  exits = 0
  #killed = new Uint8Array(MOST_WORKERS)
  /** The number of tasks that failed with each worker. Checked at the end, when all killed workers are known. */
  #diedWith = new Uint8ClampedArray(MOST_WORKERS)
  #rows = new Map()

  constructor(places) {
    this.starts = new Uint8Array(new SharedArrayBuffer(places))
    for (const { name } of kinds) this.#rows.set(name, { submitted: 0, right: 0, cancelled: 0, exited: 0 })
  }

  get inFlight() {
    return this.submitted - this.settled
  }

  get rows() {
    return Object.fromEntries([...this.#rows].filter(([, row]) => row.submitted > 0))
  }

  onSubmitted(task) {
    this.submitted++
    this.#rows.get(task.kind.name).submitted++
    Atomics.store(this.starts, task.index % this.starts.length, 0)
  }

  timesStarted({ index }) {
    return Atomics.load(this.starts, index % this.starts.length)
  }

  onFulfilled(task, value) {
    const { kind, index, sent } = task
    const row = this.#settle(task)
    if (kind.check === null || !kind.check(index, value, sent)) {
      return this.complain(task, `answered with ${summary(value)}`)
    }
    if (this.timesStarted(task) !== 1) return this.complain(task, `started ${this.timesStarted(task)} times`)
    row.right++
  }

  onRejected(task, error) {
    const { kind, index } = task
    const row = this.#settle(task)
    if (this.timesStarted(task) > 1) return this.complain(task, `started ${this.timesStarted(task)} times`)
    if (error instanceof TaskCancelledError) {
      if (task.wasAborted) row.cancelled++
      else this.complain(task, 'cancelled without an abort of its signal')
    } else if (isDeath(error)) {
      row.exited++
      this.exits++
      if (kind.isKilling) this.onKilled(error.workerId)
      else this.#onDied(error.workerId)
    } else {
      const [name, message] = kind.fails?.(index) ?? []
      if (error?.name === name && error?.message === message) row.right++
      else this.complain(task, `failed: ${error?.stack ?? String(error)}`)
    }
  }

  onKilled(workerId) {
    this.#checkPlace(workerId)
    this.#killed[workerId] = 1
  }

  #onDied(workerId) {
    this.#checkPlace(workerId)
    this.#diedWith[workerId]++
  }

  #checkPlace(workerId) {
    if (this.#killed[workerId] === undefined)
      this.say(`worker ${workerId} is beyond the limit of ${MOST_WORKERS} workers`)
  }

  /** @param mostHeld the most tasks that may fail with one worker */
  checkDeaths(mostHeld) {
    for (const [workerId, count] of this.#diedWith.entries()) {
      if (count === 0) continue
      if (this.#killed[workerId] === 0)
        this.say(`${count} tasks failed with worker ${workerId}, which the soak did not kill`)
      else if (count > mostHeld)
        this.say(`${count} tasks failed with worker ${workerId}, which may hold at most ${mostHeld}`)
    }
  }

  complain({ kind, index }, what) {
    this.say(`task ${index} (${kind.name}): ${what}`)
  }

  say(violation) {
    this.violationCount++
    if (this.violations.length < MOST_KEPT) this.violations.push(violation)
  }

  #settle(task) {
    this.settled++
    if (task.isSettled) this.complain(task, 'settled twice')
    task.isSettled = true
    return this.#rows.get(task.kind.name)
  }
}

/** A worker that exits while it loads the handler gives a WorkerStartError instead of a WorkerExitError. */
function isDeath(error) {
  if (error instanceof WorkerExitError) return true
  return error instanceof WorkerStartError && error.cause instanceof WorkerExitError
}

function summary(value) {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > 100 ? `${text.slice(0, 100)}… (${text.length} characters)` : text
}
