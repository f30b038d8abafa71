// The events of a host, and the warnings for events without a listener.
import { EventEmitter } from 'node:events'
import { Problems, shorten } from '../../kit.js'
import type { GiveBack, GiveBackReason } from './give-back.js'

interface HostJob {
  id: string
  name: string
  /** 1 for the first attempt. */
  attempt: number
}

export interface CompletedJob extends HostJob {
  /** How long this host had the job. */
  durationMs: number
}

export interface FailedJob extends CompletedJob {
  error: unknown
}

/** The `name` is empty and the `attempt` 0 when the queue has no such job any more. */
export interface StalledJob extends HostJob {
  error: Error
}

export interface GivenBackJob extends CompletedJob {
  reason: GiveBackReason
  /** For how long no host takes the job. */
  delayMs: number
  /** Why this host cannot run the job. `undefined`: the host closes, or has no room for the job. */
  error: unknown
}

/**
 * Without a listener, the host warns of `failed`, `stalled`, `error`, and of a `given-back` with an `error`: at most once a second for
 * the same kind of fault.
 */
export interface HostEvents {
  /** The queue has the result of a job. */
  completed: [job: CompletedJob]
  /** An attempt failed. */
  failed: [job: FailedJob]
  /** A job lost its host: the host died, or did not renew its lock of the job. Another host runs the job again. */
  stalled: [job: StalledJob]
  /** The host gave a job back to the queue. If it cannot run the job, it tells this once for each attempt. */
  'given-back': [job: GivenBackJob]
  /** A failure of the connection or a lost lock, from BullMQ. */
  error: [error: unknown]
  /** The host has ended. */
  close: []
}

/** The fields of BullMQ's jobs that events need. */
export interface QueueJob {
  id?: string | undefined
  name: string
  attemptsMade: number
}

const WARN_EVERY_MS = 1000
const MAX_MESSAGE = 1000

export class HostReports {
  readonly #queueName: string
  readonly #host: EventEmitter<HostEvents>
  readonly #problems: Problems

  /** @param host `null` for a processor in a worker of BullMQ */
  constructor(queueName: string, host: EventEmitter<HostEvents> | null) {
    this.#queueName = queueName
    this.#host = host ?? new EventEmitter()
    const warn = (problem: unknown, event: string, leftOut: number) => {
      const texts = [this.#textOf(problem, event)]
      if (leftOut > 0) texts.push(`The host left out ${leftOut} more of this kind.`)
      if (host !== null) texts.push(`Listen to its event '${event}' to see all.`)
      process.emitWarning(texts.join(' '), { type: 'LidoWarning', code: 'LIDO_QUEUE_HOST' })
    }
    this.#problems = new Problems(this.#host, warn, WARN_EVERY_MS)
  }

  error(error: unknown): void {
    this.#problems.tell(error, 'error', kindOf('error', error))
  }

  /** Call it when the queue has counted the attempt. */
  completed(job: QueueJob, durationMs: number): void {
    this.#host.emit('completed', { ...factsOf(job, job.attemptsMade), durationMs })
  }

  /** Call it when the queue has counted the attempt. */
  failed(job: QueueJob, durationMs: number, error: unknown): void {
    const failed: FailedJob = { ...factsOf(job, job.attemptsMade), durationMs, error }
    this.#problems.tell(failed, 'failed', kindOf('failed', error))
  }

  stalled(job: QueueJob, error: Error): void {
    const stalled: StalledJob = { ...factsOf(job, job.attemptsMade + 1), error }
    this.#problems.tell(stalled, 'stalled')
  }

  givenBack(job: QueueJob, durationMs: number, { reason, delayMs, error, isRepeated }: GiveBack): void {
    if (isRepeated) return
    const given: GivenBackJob = { ...factsOf(job, job.attemptsMade + 1), durationMs, reason, delayMs, error }
    try {
      if (error === undefined) this.#host.emit('given-back', given)
      else this.#problems.tell(given, 'given-back', `given-back ${reason}`)
    } catch (failure) {
      // The error of a listener must not reach BullMQ, which would count an attempt.
      this.error(failure)
    }
  }

  #textOf(problem: unknown, event: string): string {
    const host = `The host of the queue '${shorten(this.#queueName)}'`
    if (event === 'error') return `${host} has a problem: ${sentenceOf(problem)}`
    const { id, name, attempt, error } = problem as FailedJob
    const job = `the job '${shorten(name)}' (id ${shorten(id)}, attempt ${attempt})`
    if (event === 'failed') return `${host} failed ${job}: ${sentenceOf(error)}`
    if (event === 'stalled') return `${host} found ${job} without its host: ${sentenceOf(error)}`
    return `${host} gave back ${job} for another host: ${sentenceOf(error)}`
  }
}

function factsOf({ id, name }: QueueJob, attempt: number): HostJob {
  return { id: id ?? '', name, attempt }
}

/** Faults of one kind share a warning. */
function kindOf(event: string, error: unknown): string {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown }
  return `${event} ${String(code ?? name)}`
}

function sentenceOf(error: unknown): string {
  const text = shorten(error instanceof Error ? error.message : String(error), MAX_MESSAGE)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
