// Shuts a pool down, from the call of `close()` or `destroy()` until all workers have ended.

import type { CloseReport } from '../../api/call-options.js'
import { PoolClosedError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { TaskMetrics } from '../metrics/task-metrics.js'
import type { Cancelling } from '../scheduler/cancel.js'
import type { GracePeriods } from '../scheduler/grace-period.js'
import type { Pump } from '../scheduler/pump.js'
import type { CancelTriggers } from '../task/cancel-triggers.js'
import type { Settler } from '../task/settle.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { BackPressure } from './back-pressure.js'
import type { KeepAlive } from './keep-alive.js'
import { movePool, type PoolEnd, type PoolLife } from './pool-life.js'

export interface ShutdownParts {
  clock: Clock
  /** Milliseconds. */
  closeTimeout: number
  life: PoolLife
  keepAlive: KeepAlive
  taskMetrics: TaskMetrics
  backPressure: BackPressure
  pump: Pump
  cancelling: Cancelling
  gracePeriods: GracePeriods
  group: WorkerGroup
  cancelTriggers: CancelTriggers
  settler: Settler
  onClosed: () => void
}

/** The constructor starts the shutdown. From then on the pool accepts no tasks. */
export class Shutdown implements PoolEnd {
  readonly #parts: ShutdownParts
  readonly #done: Promise<CloseReport>
  #resolve!: (report: CloseReport) => void
  #closeTimer: Timer
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
    // Two turns later: a host that was busy first handles the answers and exits that came in time.
    this.#closeTimer = clock.after(closeTimeout, () => {
      this.#closeTimer = clock.nextTurn(() => {
        this.#closeTimer = clock.nextTurn(() => this.#onTimeout())
      })
    })
  }

  /** Accepted tasks run first. With `force`, queued tasks are rejected. */
  close(force: boolean): Promise<CloseReport> {
    if (force) {
      const { cancelling, pump } = this.#parts
      // Tasks with a free slot, also of a starting worker, still run.
      pump.pump()
      cancelling.rejectWaiting(new PoolClosedError('forced'))
    }
    this.finishIfIdle()
    return this.#done
  }

  /** Rejects all tasks and kills all workers now. */
  destroy(): Promise<CloseReport> {
    this.#shutDown(new PoolClosedError('destroyed'))
    // Also kill the workers that run their teardown after a close().
    void this.#parts.group.killAll(new PoolClosedError('destroyed'))
    return this.#done
  }

  /** Stops the workers if all tasks have settled and no handler of a cancelled task runs. */
  finishIfIdle(): void {
    const { taskMetrics, gracePeriods } = this.#parts
    if (taskMetrics.pending === 0 && !gracePeriods.isAny)
      this.#shutDown(new PoolClosedError('destroyed'), true)
  }

  #onTimeout(): void {
    if (this.#isShuttingDown) this.#timedOut = this.#parts.group.cutOffTeardowns()
    else {
      this.#timedOut = true
      this.#shutDown(new PoolClosedError('timeout'))
    }
  }

  /** Rejects the unfinished tasks and stops the workers. With `mayTearDown` they run their teardowns first. */
  #shutDown(error: PoolClosedError, mayTearDown = false): void {
    if (this.#isShuttingDown) return
    this.#isShuttingDown = true
    const { cancelling, group } = this.#parts
    cancelling.rejectWaiting(error)
    cancelling.rejectDecoding(error)
    const stopped = mayTearDown ? group.stopAll(error) : group.killAll(error)
    cancelling.rejectWaiting(error)
    void stopped.then(() => this.#onAllEnded(error))
  }

  #onAllEnded(error: PoolClosedError): void {
    const { cancelTriggers, cancelling, life, keepAlive, settler, onClosed } = this.#parts
    this.#closeTimer.cancel()
    // The last answers of a worker, or tasks from it, may have arrived since.
    cancelling.rejectWaiting(error)
    cancelling.rejectDecoding(error)
    cancelTriggers.end()
    movePool(life, 'closed')
    keepAlive.end()
    this.#resolve({ cutOff: settler.cutOffCount, timedOut: this.#timedOut })
    onClosed()
  }
}
