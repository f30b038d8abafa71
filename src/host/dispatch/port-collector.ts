// Takes in what workers say over their ports of the tasks that they were given, and hands answers on to the callers.

import type { ToHost } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { Task } from '../task/task.js'
import type { PortSlots } from '../workers/port-slots.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { Answers } from './answers.js'

export interface PortCollectorParts {
  clock: Clock
  answers: Answers
  /** Called for each task that its worker has no more, before its caller is answered. */
  release: (task: Task) => void
}

export class PortCollector {
  readonly #parts: PortCollectorParts

  constructor(parts: PortCollectorParts) {
    this.#parts = parts
  }

  /** True when there may be room again. */
  receive(worker: WorkerHandle, message: ToHost): boolean {
    if (message === 'bell') return false
    const { answers } = this.#parts
    switch (message.kind) {
      case 'done': {
        const task = this.#takeAnswered(worker, message.slot, message.taskId)
        if (task === null) return false
        if (task.state === 'settled') return true
        worker.learn(task.handlerId)
        answers.fulfil(worker, task, message.result, this.#runMs(task))
        return true
      }
      case 'failed': {
        const task = this.#takeAnswered(worker, message.slot, message.taskId)
        if (task === null) return false
        if (task.state === 'settled') return true
        if (message.reason === 'thrown' || message.reason === 'result') worker.learn(task.handlerId)
        answers.fail(worker, task, message, this.#runMs(task))
        return true
      }
      case 'over':
        return this.#takeAnswered(worker, message.slot, message.taskId) !== null
      case 'unreadable':
        return this.#onUnreadablePayload(worker, message.ordinal)
      case 'holding':
        return this.#onHolding(worker, message.taskIds, message.received)
      default:
        return false
    }
  }

  /** The worker says what it still holds, so what it does not is what was answered. */
  onUnreadable(worker: WorkerHandle): void {
    worker.link!.post({ kind: 'audit' })
  }

  #takeAnswered(worker: WorkerHandle, slot: number, taskId: number): Task | null {
    const task = slotsOf(worker).taskAt(slot, taskId)
    if (task === null) return null
    this.#parts.release(task)
    if (task.state === 'settled') worker.answers++
    return task
  }

  #runMs(task: Task): number {
    return this.#parts.clock.now() - task.assignedAt!
  }

  #onUnreadablePayload(worker: WorkerHandle, ordinal: number): boolean {
    const task = worker.tasks().find(held => held.ordinal === ordinal)
    if (task === undefined) return false
    this.#failUnreadable(worker, task, 'payload')
    return true
  }

  #onHolding(worker: WorkerHandle, taskIds: number[], received: number): boolean {
    const stillRunning = new Set(taskIds)
    for (const task of worker.tasks()) {
      if (task.ordinal > received || stillRunning.has(task.id) || !worker.holding.hasBegun(task)) continue
      this.#failUnreadable(worker, task, 'result')
    }
    return true
  }

  #failUnreadable(worker: WorkerHandle, task: Task, what: 'payload' | 'result'): void {
    this.#parts.release(task)
    if (task.state !== 'settled') this.#parts.answers.failUnreadable(worker, task, what, this.#runMs(task))
  }
}

export function slotsOf(worker: WorkerHandle): PortSlots {
  return worker.holding as PortSlots
}
