// Sends the progress of tasks. The latest value wins: while the host has not handled the last message, a new value replaces
// the one that waits. So a loop that reports often costs the host one message per turn of its event loop.
import type { HostPort } from '../../shared/messages/messages.js'
import { type Outgoing, outgoing } from '../../shared/messages/outgoing.js'
import type { Timer } from '../../shared/platform/make-clock.js'
import { structuredClone } from '../../shared/platform/node-modules.js'
import { workerClock } from '../run/clock.js'
import type { WorkerTask } from './worker-task.js'

/** How often a waiting value is tried again while the event loop turns. */
const RETRY_MS = 2

export class ProgressSender {
  readonly #port: HostPort
  /** How many messages the host has handled. */
  readonly #heard: () => number
  /** The latest values that were not sent yet. */
  readonly #waiting = new Map<WorkerTask, unknown>()
  #sent = 0
  #timer: Timer | null = null

  constructor(port: HostPort, heard: () => number) {
    this.#port = port
    this.#heard = heard
  }

  /** Throws `DataCloneError` when the value cannot be copied. */
  report(task: WorkerTask, value: unknown): void {
    task.answersByMessage = true
    const sent = outgoing(value)
    if (this.#waiting.size === 0 && this.#heard() === this.#sent) return this.#send(task, sent)
    // The handler may change the object later.
    const copy = isPrimitive(value)
      ? value
      : structuredClone(sent.value, { transfer: sent.transferList as never })
    this.#waiting.set(task, copy)
    this.#retry()
  }

  /** Call it before the answer of the task is sent. */
  flush(task: WorkerTask): void {
    if (!this.#waiting.has(task)) return
    const value = this.#waiting.get(task)
    this.#waiting.delete(task)
    this.#send(task, { value, transferList: [] })
  }

  /** The task was cancelled. */
  drop(task: WorkerTask): void {
    this.#waiting.delete(task)
  }

  #retry(): void {
    if (this.#heard() === this.#sent) {
      const [next] = this.#waiting.keys()
      if (next !== undefined) this.flush(next)
    }
    if (this.#waiting.size === 0 || this.#timer !== null) return
    this.#timer = workerClock.after(RETRY_MS, () => {
      this.#timer = null
      this.#retry()
    })
  }

  #send({ taskId, ticket }: WorkerTask, { value, transferList }: Outgoing): void {
    const body = { kind: 'progress', value } as const
    this.#port.postMessage({ kind: 'from-task', taskId, ticket, body, isCounted: true }, transferList)
    this.#sent++
  }
}

function isPrimitive(value: unknown): boolean {
  return value === null || !['object', 'function', 'symbol'].includes(typeof value)
}
