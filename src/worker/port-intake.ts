// Tasks that come by the port, each with its payload, into a slot of this worker.
import type { MessagePort } from 'node:worker_threads'
import type { SharedWords } from '../shared/base/atomics.js'
import { canBeTakenBack, claim, markLoading, maySpin, postCount } from '../shared/channel/claims.js'
import type { PackedThrown } from '../shared/errors/remote-error.js'
import type { FailureReason, Handler, ToHost, ToWorker } from '../shared/protocol/messages.js'
import { type Assignment, sendFailure, sendResult } from './assignment.js'
import type { Executor } from './executor.js'
import type { Intake, RunMessage } from './intake.js'
import { Spinner } from './spinner.js'

export class PortIntake implements Intake {
  readonly port: MessagePort
  readonly claims: SharedWords
  readonly #executor: Executor
  readonly #spinner: Spinner
  /** The tasks begun and not answered. */
  readonly #running = new Set<number>()
  #received = 0
  /** What came before the worker was ready, or since it leaves: the host takes back what it can. */
  #early: RunMessage[] | null = []

  constructor(port: MessagePort, claims: SharedWords, executor: Executor) {
    this.port = port
    this.claims = claims
    this.#executor = executor
    this.#spinner = new Spinner(() => maySpin(claims))
  }

  open(): void {
    this.#goOn()
  }

  /** The first of them may make the worker leave. */
  #goOn(): void {
    const early = this.#early ?? []
    this.#early = null
    for (const message of early) this.#take(message)
  }

  #take(message: RunMessage): void {
    if (this.#early !== null) this.#early.push(message)
    else this.#begin(message)
  }

  onMessage(message: ToWorker): void {
    switch (message.kind) {
      case 'run':
        this.#received++
        this.#spinner.onWork()
        return this.#take(message)
      case 'leave':
        return this.#goOn()
      case 'audit':
        return this.#say({ kind: 'holding', taskIds: [...this.#running], received: this.#received })
    }
  }

  onUnreadable(): void {
    this.#say({ kind: 'unreadable', ordinal: ++this.#received })
  }

  /** The host gives no more tasks. What it cannot take back is begun when it has taken back the rest. */
  leave(): void {
    if (canBeTakenBack(this.claims)) this.#early ??= []
  }

  stopTaking(): void {}

  onAnswered(taskId: number): void {
    this.#running.delete(taskId)
    if (this.#running.size > 0) return
    const received = this.#received
    this.#spinner.lookOut(() => postCount(this.claims) !== received)
  }

  #begin(message: RunMessage): void {
    if (!claim(this.claims, message.slot, message.taskId)) return
    this.#running.add(message.taskId)
    this.#executor.run(new PortAssignment(message, this))
  }

  #say(message: ToHost): void {
    this.port.postMessage(message)
  }
}

class PortAssignment implements Assignment {
  readonly handlerId: number
  readonly handler: Handler | null
  readonly payload: unknown
  readonly #taskId: number
  readonly #slot: number
  readonly #intake: PortIntake

  constructor({ taskId, slot, handlerId, handler, payload }: RunMessage, intake: PortIntake) {
    this.#taskId = taskId
    this.#slot = slot
    this.handlerId = handlerId
    this.handler = handler
    this.payload = payload
    this.#intake = intake
  }

  markLoading(isLoading: boolean): void {
    markLoading(this.#intake.claims, this.#slot, isLoading)
  }

  succeed(result: unknown): void {
    const problem = sendResult(this.#intake.port, this.#address, result)
    if (problem !== null) return this.fail('result', problem.error, problem.path)
    this.#intake.onAnswered(this.#taskId)
  }

  fail(reason: FailureReason, error: PackedThrown, path: string): void {
    sendFailure(this.#intake.port, this.#address, reason, error, path)
    this.#intake.onAnswered(this.#taskId)
  }

  get #address() {
    return { taskId: this.#taskId, slot: this.#slot }
  }
}
