// The end of a pool, from the first word of it until all have ended.

import { PoolClosedError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Counters } from '../metrics/counters.js'
import type { BackPressure } from '../queue/back-pressure.js'
import type { Scheduler } from '../scheduler/scheduler.js'
import type { Cancellation } from '../task/cancellation.js'
import type { Settler } from '../task/settle.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { CloseReport } from './call-options.js'
import type { KeepAlive } from './keep-alive.js'
import { movePool, type PoolState } from './pool-life.js'

export interface ShutdownParts {
  clock: Clock
  /** Milliseconds. */
  closeTimeout: number
  life: { state: PoolState }
  keepAlive: KeepAlive
  counters: Counters
  backPressure: BackPressure
  scheduler: Scheduler
  group: WorkerGroup
  cancellation: Cancellation
  settler: Settler
  onClosed: () => void
}

/** An end under way: from now on the pool takes no more. */
export class Shutdown {
  readonly #parts: ShutdownParts
  readonly #done: Promise<CloseReport>
  #resolve!: (report: CloseReport) => void
  #limit: Timer
  #isShuttingDown = false
  #timedOut = false

  constructor(parts: ShutdownParts) {
    const { clock, closeTimeout, life, keepAlive, backPressure, group } = parts
    this.#parts = parts
    this.#done = new Promise(resolve => {
      this.#resolve = resolve
    })
    movePool(life, 'closing')
    keepAlive.onBusy()
    backPressure.close()
    group.stopReplacing(new PoolClosedError('closed'))
    // After two turns: a host that was busy hears first of what was done in time, and of workers that have ended.
    this.#limit = clock.after(closeTimeout, () => {
      this.#limit = clock.nextTurn(() => {
        this.#limit = clock.nextTurn(() => this.#onLimit())
      })
    })
  }

  /** Accepted tasks run first. With `force`, those that wait are rejected. */
  close(force: boolean): Promise<CloseReport> {
    if (force) {
      const { scheduler } = this.#parts
      // Tasks for which a worker has a free slot, or is starting, do not wait.
      scheduler.pump()
      scheduler.rejectWaiting(new PoolClosedError('forced'))
    }
    this.finishIfIdle()
    return this.#done
  }

  /** At once. */
  destroy(): Promise<CloseReport> {
    this.#shutDown(new PoolClosedError('destroyed'))
    // Also the workers that close() lets run their teardown.
    void this.#parts.group.killAll(new PoolClosedError('destroyed'))
    return this.#done
  }

  /** The handlers of cancelled tasks get their time as well. */
  finishIfIdle(): void {
    const { counters, scheduler } = this.#parts
    if (counters.pending === 0 && !scheduler.hasCancelledRunning)
      this.#shutDown(new PoolClosedError('destroyed'), true)
  }

  #onLimit(): void {
    if (this.#isShuttingDown) this.#timedOut = this.#parts.group.cutOffTeardowns()
    else {
      this.#timedOut = true
      this.#shutDown(new PoolClosedError('timeout'))
    }
  }

  /** Rejects what is left and ends the workers; the one way to `closed`. */
  #shutDown(error: PoolClosedError, isPlanned = false): void {
    if (this.#isShuttingDown) return
    this.#isShuttingDown = true
    const { scheduler, group } = this.#parts
    scheduler.rejectWaiting(error)
    scheduler.rejectDecoding(error)
    const stopped = isPlanned ? group.stopAll(error) : group.killAll(error)
    scheduler.rejectWaiting(error)
    void stopped.then(() => this.#onAllEnded(error))
  }

  #onAllEnded(error: PoolClosedError): void {
    const { cancellation, scheduler, life, keepAlive, settler, onClosed } = this.#parts
    this.#limit.cancel()
    // What a worker gave with its last breath may be here since.
    scheduler.rejectWaiting(error)
    scheduler.rejectDecoding(error)
    cancellation.end()
    movePool(life, 'closed')
    keepAlive.end()
    this.#resolve({ cutOff: settler.cutOffCount, timedOut: this.#timedOut })
    onClosed()
  }
}
