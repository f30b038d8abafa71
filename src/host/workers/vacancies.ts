// Remembers why workers stopped, until other workers start in their places. Only statistics read it.
import type { WorkerStopReason } from '../../api/worker-view.js'

/** The pool becomes smaller on purpose. */
const UNREPLACED: ReadonlySet<WorkerStopReason> = new Set([
  'close',
  'closeTimeout',
  'destroy',
  'resize',
  'idleTimeout',
])
/** More are not needed: a pool that cannot start workers pauses. */
const MOST = 1024

interface StoppedWorker {
  readonly stopReason: WorkerStopReason | null
}

export class Vacancies {
  readonly #reasons: WorkerStopReason[] = []
  readonly #known = new WeakSet<StoppedWorker>()

  /** The worker leaves, stops or has died. */
  add(worker: StoppedWorker): void {
    const { stopReason } = worker
    if (stopReason === null || this.#known.has(worker)) return
    this.#known.add(worker)
    if (!UNREPLACED.has(stopReason) && this.#reasons.length < MOST) this.#reasons.push(stopReason)
  }

  /** A new worker starts before the old one leaves. */
  onReplaced(worker: StoppedWorker): void {
    this.#known.add(worker)
  }

  /** The reason of the oldest vacancy, for the worker that starts now. `null`: no place is vacant. */
  take(): WorkerStopReason | null {
    return this.#reasons.shift() ?? null
  }
}
