// From a worker's message to the caller's answer.
import type { Clock } from '../../shared/base/clock.js'
import { unreachable } from '../../shared/base/invariant.js'
import { NotCloneableError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import { unpack } from '../../shared/errors/remote-error.js'
import type { ToHost } from '../../shared/protocol/messages.js'
import type { Timings } from '../observe/timings.js'
import type { RestartPolicy } from '../supervisor/restart-policy.js'
import type { WorkerHandle } from '../supervisor/worker-handle.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import type { HandlerTable } from './handler-table.js'
import type { PortRoad } from './port-road.js'

type FailedMessage = Extract<ToHost, { kind: 'failed' }>

export interface AnswersParts {
  clock: Clock
  road: PortRoad
  settler: Settler
  policy: RestartPolicy
  handlers: HandlerTable
  timings: Timings | null
}

export class Answers {
  readonly #parts: AnswersParts

  constructor(parts: AnswersParts) {
    this.#parts = parts
  }

  /** Settles what the message speaks of. True when a worker has room again. */
  receive(worker: WorkerHandle, message: ToHost): boolean {
    switch (message.kind) {
      case 'done': {
        const task = worker.taskAt(message.slot, message.taskId)
        if (task === null) return false
        this.#onAnswered(worker, task)
        worker.learn(task.handlerId)
        this.#parts.settler.fulfil(task, message.result)
        return true
      }
      case 'failed': {
        const task = worker.taskAt(message.slot, message.taskId)
        if (task === null) return false
        this.#onAnswered(worker, task)
        this.#onFailed(worker, task, message)
        return true
      }
      case 'unreadable':
        return this.#onUnreadablePayload(worker, message.ordinal)
      case 'holding':
        return this.#onHolding(worker, message.taskIds, message.received)
      case 'stale':
        worker.isLeaving = true
        return true
      case 'ready':
      case 'startFailed':
        return false
      default:
        return unreachable(message)
    }
  }

  /** An answer that cannot be read: the worker says what it still holds, so what it does not is what was answered. */
  onUnreadable(worker: WorkerHandle): void {
    worker.link!.post({ kind: 'audit' })
  }

  #onAnswered(worker: WorkerHandle, task: Task): void {
    const { clock, policy, road, timings } = this.#parts
    worker.answers++
    policy.onWorkDone()
    if (timings !== null || worker.histogram !== null) {
      const runMs = clock.now() - task.assignedAt
      timings?.record(task.assignedAt - task.createdAt, runMs)
      worker.histogram?.record(runMs)
    }
    road.release(task)
  }

  #onFailed(worker: WorkerHandle, task: Task, { reason, error: packed, path }: FailedMessage): void {
    const { handlers, settler } = this.#parts
    const error = unpack(packed)
    switch (reason) {
      case 'thrown':
        worker.learn(task.handlerId)
        return settler.reject(task, error)
      case 'result':
        worker.learn(task.handlerId)
        return settler.reject(task, new NotCloneableError(path, error))
      case 'load':
      case 'missing': {
        handlers.forget(task)
        const stage = reason === 'load' ? 'load' : 'handler'
        return settler.reject(task, new WorkerStartError(worker.id, task, stage, error))
      }
      default:
        return unreachable(reason)
    }
  }

  #onUnreadablePayload(worker: WorkerHandle, ordinal: number): boolean {
    const task = worker.tasks().find(held => held.ordinal === ordinal)
    if (task === undefined) return false
    const cause = new RangeError('The worker could not read it; it may be nested too deeply.')
    this.#onAnswered(worker, task)
    this.#parts.settler.reject(task, new NotCloneableError('payload', cause))
    return true
  }

  #onHolding(worker: WorkerHandle, taskIds: number[], received: number): boolean {
    const stillRunning = new Set(taskIds)
    const cause = new RangeError('It could not be read here; it may be nested too deeply.')
    for (const task of worker.tasks()) {
      if (task.ordinal > received || stillRunning.has(task.id) || !worker.hasBegun(task)) continue
      this.#onAnswered(worker, task)
      this.#parts.settler.reject(task, new NotCloneableError('result', cause))
    }
    return true
  }
}
