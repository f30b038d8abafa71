// Stops the handlers of cancelled tasks. The pool has already rejected their callers. The host asks such a handler to
// stop, waits for the grace period, and then kills the worker.
//
// Other tasks of that worker are safe: its unstarted tasks return to the queue. Its started tasks may finish as long as
// the worker's event loop turns.
import { type PoolError, TaskCancelledError, WorkerExitError } from '../../shared/errors/pool-errors.js'
import { serializeError } from '../../shared/errors/serialize-error.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Recall } from '../lane/recall.js'
import type { Task } from '../task/task.js'
import type { Worker } from '../workers/worker.js'

/** After the grace period, the host kills a worker whose event loop has not turned for this long. */
const STUCK_AFTER_MS = 1000
/** The host waits in several steps. If the whole process was suspended, only one step passes at once. */
const STUCK_STEPS = 4
const PING_AGAIN_AFTER_MS = 1000
/** How often the host checks whether a cancelled task is still behind others. */
const BEHIND_CHECK_MS = 100

export interface GracePeriodsParts {
  clock: Clock
  recall: Recall
  /** How long a handler of a cancelled task may run on; `Infinity`: the host never kills its worker. */
  graceMs: number
  /** Called when the last of these handlers has ended. */
  onNone: () => void
}

/** The cancelled tasks that run on one worker. */
class GracePeriod {
  /** By task: the end of its grace period. */
  readonly tasks = new Map<Task, number>()
  /** Tasks that were behind others at the last check. */
  readonly behind = new Set<Task>()
  timer: Timer | null = null
  /** The grace period has passed. The host kills the worker when no other task needs it. */
  isOver = false
}

export class GracePeriods {
  readonly #parts: GracePeriodsParts
  readonly #periods = new Map<Worker, GracePeriod>()

  constructor(parts: GracePeriodsParts) {
    this.#parts = parts
  }

  get isAny(): boolean {
    return this.#periods.size > 0
  }

  /** Call it for a task that runs on the worker, after its caller was rejected. */
  add(worker: Worker, task: Task, error: PoolError): void {
    const { clock, graceMs, recall } = this.#parts
    let period = this.#periods.get(worker)
    if (period === undefined) {
      period = new GracePeriod()
      this.#periods.set(worker, period)
    }
    const now = clock.now()
    period.tasks.set(task, now + graceMs)
    const isBehind = worker.isReady && recall.isBehindOthers(worker, task, now)
    if (isBehind) period.behind.add(task)
    // An inline worker cannot be killed, so the host always asks its handler first. A starting worker is not killed
    // here: its message that it is ready may be on its way.
    const isDue = graceMs === 0 && worker.isReady && !isBehind && worker.link.kind !== 'inline'
    if (isDue && !period.isOver) this.#killWhenFree(worker, period)
    if (this.#periods.has(worker)) this.#ask(worker, task, error)
    if (period.timer === null && !period.isOver) this.#setTimer(worker, period)
  }

  /** Call it when the tasks of the worker have changed. */
  review(worker: Worker): void {
    const period = this.#periods.get(worker)
    if (period === undefined || !worker.isReady) return
    if (period.isOver) {
      if (!this.#parts.recall.hasOthers(worker)) void worker.kill('cancel')
      return
    }
    this.#removeEnded(period)
    if (period.tasks.size === 0) this.forget(worker)
  }

  /** The pong shows that the worker's event loop turns. */
  onPong(worker: Worker): void {
    const period = this.#periods.get(worker)
    if (period === undefined || !period.isOver || !worker.isReady) return
    period.timer?.cancel()
    if (!this.#parts.recall.hasOthers(worker)) return void worker.kill('cancel')
    period.timer = this.#parts.clock.after(PING_AGAIN_AFTER_MS, () => this.#ping(worker, period))
  }

  /** Call it when the worker has ended or runs none of these tasks. */
  forget(worker: Worker): void {
    const period = this.#periods.get(worker)
    if (period === undefined) return
    period.timer?.cancel()
    this.#periods.delete(worker)
    if (this.#periods.size === 0) this.#parts.onNone()
  }

  /** The handler's signal aborts with the reason of the caller's signal, or with the error of the time limit. */
  #ask(worker: Worker, { id: taskId, ticket }: Task, error: PoolError): void {
    const post = (reason: unknown) =>
      worker.link.post({ kind: 'cancel', taskId, ticket, reason: serializeError(reason) })
    try {
      post(error instanceof TaskCancelledError ? error.reason : error)
    } catch (failure) {
      post(`(a reason that could not be sent: ${String(failure)})`)
    }
  }

  #setTimer(worker: Worker, period: GracePeriod): void {
    const { clock } = this.#parts
    const dueAt = Math.min(...period.tasks.values())
    // One turn later: a host that was busy first reads the messages of handlers that have ended meanwhile.
    period.timer = clock.after(Math.max(dueAt - clock.now(), 0), () => {
      period.timer = clock.nextTurn(() => this.#onDue(worker, period))
    })
  }

  #onDue(worker: Worker, period: GracePeriod): void {
    period.timer = null
    this.#removeEnded(period)
    if (period.tasks.size === 0) return this.forget(worker)
    const { clock, graceMs, recall } = this.#parts
    const now = clock.now()
    // A worker may start a task from behind others before it reads the cancel message. Then its grace period starts
    // anew.
    for (const [task, dueAt] of period.tasks) {
      if (dueAt > now) continue
      const wasBehind = period.behind.delete(task)
      const isBehind = recall.isBehindOthers(worker, task, now)
      if (isBehind) period.behind.add(task)
      if (isBehind || wasBehind) period.tasks.set(task, now + Math.max(graceMs, BEHIND_CHECK_MS))
    }
    if (Math.min(...period.tasks.values()) <= now) this.#killWhenFree(worker, period)
    else this.#setTimer(worker, period)
  }

  #killWhenFree(worker: Worker, period: GracePeriod): void {
    const { recall } = this.#parts
    period.isOver = true
    // A starting worker cannot answer a ping.
    if (!worker.isReady) return void worker.kill('cancel')
    // The worker may start a task after the check. So dismiss the worker first, then check again.
    if (!recall.hasOthers(worker)) worker.tasks.dismiss()
    // The unstarted tasks return to the queue, and the worker accepts no more tasks.
    if (recall.hasOthers(worker)) worker.leave('cancel')
    if (this.#periods.get(worker) !== period) return
    if (recall.hasOthers(worker)) this.#ping(worker, period)
    else void worker.kill('cancel')
  }

  #ping(worker: Worker, period: GracePeriod): void {
    worker.link.post({ kind: 'ping' })
    this.#awaitPong(worker, period, STUCK_STEPS)
  }

  #awaitPong(worker: Worker, period: GracePeriod, stepsLeft: number): void {
    const { clock } = this.#parts
    period.timer = clock.after(STUCK_AFTER_MS / STUCK_STEPS, () => {
      if (stepsLeft > 1) return this.#awaitPong(worker, period, stepsLeft - 1)
      period.timer = clock.nextTurn(() => void worker.kill('cancel', stuckError(worker)))
    })
  }

  #removeEnded(period: GracePeriod): void {
    for (const task of period.tasks.keys()) {
      if (this.#parts.recall.isStillRunning(task)) continue
      period.tasks.delete(task)
      period.behind.delete(task)
    }
  }
}

function stuckError(worker: Worker): WorkerExitError {
  const why = 'the handler of a cancelled task on the same worker blocked its thread'
  return new WorkerExitError(worker.id, 1, new Error(`The pool killed worker ${worker.id}: ${why}.`))
}
