// The events of a host, and the warnings for events without a listener.
import { EventEmitter } from 'node:events'
import { Job, type Worker } from 'bullmq'
import { Problems, shorten } from '../../kit.js'
import type { GiveBack, GiveBackReason } from './give-back.js'

interface HostJob {
  /** The id of the job in the queue. */
  id: string
  /** The name of the job, which is also the name of the handler. */
  name: string
  /** 1 for the first attempt. */
  attempt: number
}

/** A job that ended on this host. */
export interface CompletedJob extends HostJob {
  /** How long this host had the job. */
  durationMs: number
}

/** A job whose attempt failed on this host. */
export interface FailedJob extends CompletedJob {
  /** Why the attempt failed. */
  error: unknown
}

/** The `name` is empty and the `attempt` 0 when the queue has no such job any more. */
export interface StalledJob extends HostJob {
  /** Why the host lost the job. */
  error: Error
}

/** A job that this host gave back to the queue. */
export interface GivenBackJob extends CompletedJob {
  /** Why the host gave the job back. */
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
  /**
   * The queue has the result of a job.
   * @see [Events of a host](https://OWNER.github.io/lido/reference/bullmq.html#events-of-a-host)
   */
  completed: [job: CompletedJob]
  /**
   * An attempt failed.
   * @see [Events of a host](https://OWNER.github.io/lido/reference/bullmq.html#events-of-a-host)
   */
  failed: [job: FailedJob]
  /**
   * A job lost its host: the host died, or did not renew its lock of the job. Another host runs the job again.
   * @see [Events of a host](https://OWNER.github.io/lido/reference/bullmq.html#events-of-a-host)
   */
  stalled: [job: StalledJob]
  /**
   * The host gave a job back to the queue. If it cannot run the job, it tells this once for each attempt.
   * @see [Events of a host](https://OWNER.github.io/lido/reference/bullmq.html#events-of-a-host)
   */
  'given-back': [job: GivenBackJob]
  /**
   * A failure of the connection or a lost lock, from BullMQ.
   * @see [Events of a host](https://OWNER.github.io/lido/reference/bullmq.html#events-of-a-host)
   */
  error: [error: unknown]
  /**
   * The host has ended.
   * @see [Events of a host](https://OWNER.github.io/lido/reference/bullmq.html#events-of-a-host)
   */
  close: []
}

/** How an attempt went on this host. */
interface Run {
  durationMs: number
  error?: unknown
}

/** The fields of BullMQ's jobs that events need. */
interface QueueJob {
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
  /** The jobs that this host has, by their ids. */
  readonly #jobs = new Map<string, Job>()
  readonly #runs = new WeakMap<Job, Run>()

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

  /** Tells how the jobs of the worker end. BullMQ's events come when the queue has counted the attempt. */
  follow(worker: Worker, lockDuration: number): void {
    worker.on('completed', job => {
      const { durationMs } = this.#runs.get(job) ?? { durationMs: 0 }
      this.#host.emit('completed', { ...factsOf(job, job.attemptsMade), durationMs })
    })
    worker.on('failed', (job, error) => {
      if (job !== undefined) this.#tellFailed(job, error)
    })
    worker.on('stalled', jobId => void this.#tellStalled(worker, jobId))
    worker.on('lockRenewalFailed', jobIds => {
      const message = `This host lost its lock of the job, because it did not renew it within ${lockDuration} ms. Another host may run the job again. Look for code that blocks the event loop of this process, and for an interrupted connection.`
      for (const jobId of jobIds) {
        const job = this.#jobs.get(jobId)
        if (job !== undefined) this.#stalled(job, new Error(message))
        // BullMQ tells it again until the job has ended.
        this.#jobs.delete(jobId)
      }
    })
  }

  started(job: Job): void {
    this.#jobs.set(job.id!, job)
  }

  /** @param run `null`: the host gave the job back */
  ended(job: Job, run: Run | null): void {
    if (run !== null) this.#runs.set(job, run)
    if (this.#jobs.get(job.id!) === job) this.#jobs.delete(job.id!)
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

  /** A job that lost too many hosts fails without a run. */
  #tellFailed(job: Job, reason: Error): void {
    const { durationMs, error } = this.#runs.get(job) ?? { durationMs: 0, error: reason }
    const failed: FailedJob = { ...factsOf(job, job.attemptsMade), durationMs, error }
    this.#problems.tell(failed, 'failed', kindOf('failed', error))
  }

  /** BullMQ tells only the id of a job that it took from a dead host. */
  async #tellStalled(worker: Worker, jobId: string): Promise<void> {
    const job = await Job.fromId(worker, jobId).catch(() => undefined)
    const error = new Error(
      'The host of the job did not renew its lock: it died, its event loop was blocked, or its connection was interrupted. The job waits for another host.',
    )
    this.#stalled(job ?? { id: jobId, name: '', attemptsMade: -1 }, error)
  }

  #stalled(job: QueueJob, error: Error): void {
    const stalled: StalledJob = { ...factsOf(job, job.attemptsMade + 1), error }
    this.#problems.tell(stalled, 'stalled')
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
