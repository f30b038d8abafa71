// Keeps account of every task: what became of it, and whether that was allowed. A death is excused by the worker that was
// killed, a cancellation by the signal that was aborted, and nothing else is excused.
import { TaskCancelledError, WorkerExitError, WorkerStartError } from 'lido'
import { kinds } from './kinds.js'

const MOST_KEPT = 10
/** A number for each is there from the start: an account that grows would be taken for the pool's memory. */
const MOST_WORKERS = 2 ** 20

export class Ledger {
  /** How often the task in this place was begun; places are used again and again. */
  begun
  violations = []
  violationCount = 0
  settled = 0
  submitted = 0
  exits = 0
  #killed = new Uint8Array(MOST_WORKERS)
  /** Tasks that say they died with that worker; looked at in the end, when all who were killed are known. */
  #diedWith = new Uint8ClampedArray(MOST_WORKERS)
  #rows = new Map()

  constructor(places) {
    this.begun = new Uint8Array(new SharedArrayBuffer(places))
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
    Atomics.store(this.begun, task.index % this.begun.length, 0)
  }

  timesBegun({ index }) {
    return Atomics.load(this.begun, index % this.begun.length)
  }

  onFulfilled(task, value) {
    const { kind, index, sent } = task
    const row = this.#settle(task)
    if (kind.check === null || !kind.check(index, value, sent)) {
      return this.complain(task, `answered with ${summary(value)}`)
    }
    if (this.timesBegun(task) !== 1) return this.complain(task, `begun ${this.timesBegun(task)} times`)
    row.right++
  }

  onRejected(task, error) {
    const { kind, index } = task
    const row = this.#settle(task)
    if (this.timesBegun(task) > 1) return this.complain(task, `begun ${this.timesBegun(task)} times`)
    if (error instanceof TaskCancelledError) {
      if (task.wasAborted) row.cancelled++
      else this.complain(task, 'cancelled, and nobody asked for it')
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
    if (this.#killed[workerId] === undefined) this.say(`worker ${workerId} has no place in the ledger`)
  }

  /** @param mostHeld how many tasks a worker may take with it when it dies */
  checkDeaths(mostHeld) {
    for (const [workerId, count] of this.#diedWith.entries()) {
      if (count === 0) continue
      if (this.#killed[workerId] === 0)
        this.say(`${count} tasks died with worker ${workerId}, which nobody killed`)
      else if (count > mostHeld)
        this.say(`${count} tasks died with worker ${workerId}, which may hold ${mostHeld}`)
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

/** A worker that ends while it looks for the task's handler has not started that handler. */
function isDeath(error) {
  if (error instanceof WorkerExitError) return true
  return error instanceof WorkerStartError && error.cause instanceof WorkerExitError
}

function summary(value) {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > 100 ? `${text.slice(0, 100)}… (${text.length} characters)` : text
}
