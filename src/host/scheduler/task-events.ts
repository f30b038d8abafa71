// What happens to tasks when a worker reports something, leaves or ends.
import { PoolClosedError, type PoolError, WorkerExitError } from '../../shared/errors/pool-errors.js'
import type { Bell, MessageOfTasks } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { Collector } from '../lane/collect.js'
import type { ResultPoller } from '../lane/poll-results.js'
import type { TaskMessages } from '../lane/task-messages.js'
import type { HandlerMetrics } from '../metrics/handler-metrics.js'
import type { Death, TaskListener, Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { GracePeriods } from './grace-period.js'
import type { Pump } from './pump.js'
import type { Requeue } from './requeue.js'

export interface WorkerEventsParts {
  clock: Clock
  group: WorkerGroup
  collector: Collector
  taskMessages: TaskMessages
  handlerMetrics: HandlerMetrics | null
  requeue: Requeue
  gracePeriods: GracePeriods
  pump: Pump
  /** `null`: the host sends all tasks by message. */
  poller: ResultPoller | null
  /** Called when tasks have left the queue or the workers. */
  onLeft: () => void
}

export class TaskEvents implements TaskListener {
  readonly #parts: WorkerEventsParts

  constructor(parts: WorkerEventsParts) {
    this.#parts = parts
  }

  onReady(): void {
    this.#parts.pump.refill()
  }

  onMessage(worker: Worker, message: Bell | MessageOfTasks): void {
    const { collector, gracePeriods, handlerMetrics, poller, taskMessages } = this.#parts
    if (message === 'bell') {
      if (!poller!.onBell()) this.#parts.pump.refill()
      return
    }
    switch (message.kind) {
      case 'done':
      case 'failed':
        collector.receive(worker, message)
        break
      case 'task-ended':
        if (!collector.onTaskEnded(worker, message.ticket, message.taskId)) return
        break
      case 'task-list':
        collector.onTaskList(worker, message.taskIds)
        break
      case 'from-task':
        return taskMessages.receive(worker, message)
      case 'unreadable':
        return collector.onUnreadable(worker)
      case 'pong':
        return gracePeriods.onPong(worker)
      case 'measured':
        worker.memoryBytes = message.memoryBytes
        worker.heapBytes = message.heapBytes
        worker.cpuMs = message.cpuMs
        return handlerMetrics?.onMeasured(message.handlers)
    }
    if (worker.isIdle) worker.idleSince = this.#parts.clock.now()
    this.#parts.pump.refill()
    this.onAnswered(worker)
  }

  onUnreadable(worker: Worker): void {
    this.#parts.collector.onUnreadable(worker)
  }

  /** Call it when answers of the worker were collected. */
  onAnswered(worker: Worker): void {
    const { gracePeriods, group } = this.#parts
    if (gracePeriods.isAny) gracePeriods.review(worker)
    if (worker.isIdle) group.onIdle(worker)
  }

  onGivenUp(worker: Worker, error: PoolError): void {
    this.#forgetTasksOf(worker, error, error instanceof PoolClosedError)
    inMicrotask(() => this.#parts.pump.refill())
  }

  onLeaving(worker: Worker): void {
    this.#parts.requeue.unstartedOf(worker)
    inMicrotask(() => this.#parts.pump.refill())
  }

  /** A worker that the host gave up has ended. Only now is it certain which tasks it had claimed. */
  onGone(worker: Worker): void {
    this.#forgetTasksOf(worker, new WorkerExitError(worker.id, 1), true)
    this.#parts.pump.refill()
  }

  /** Returns true when a caller received the error of the death. */
  onLost(worker: Worker, death: Death): boolean {
    const hasRejectedStarted = this.#forgetTasksOf(worker, death.error, true)
    const hasRejectedQueued = this.#parts.pump.pump()
    this.#parts.onLeft()
    return hasRejectedStarted || hasRejectedQueued
  }

  onPauseOver(): void {
    this.#parts.pump.refill()
  }

  #forgetTasksOf(worker: Worker, error: unknown, isGone: boolean): boolean {
    const { collector, gracePeriods, poller } = this.#parts
    gracePeriods.forget(worker)
    if (isGone) poller?.onWorkerGone()
    // Answers that the worker gave before count.
    collector.collectFrom(worker, Number.POSITIVE_INFINITY)
    const reason = error instanceof PoolClosedError ? error : (worker.tasks.damage ?? error)
    return this.#parts.requeue.orphansOf(worker, reason, isGone)
  }
}
