// Gives jobs back to the queue, because another host may run what this one cannot. No attempt is used up.
import { DelayedError, type Job } from 'bullmq'
import { realClock } from '../../kit.js'
import { WaitingError } from './package.js'

/**
 * Why a host gave a job back:
 *
 * - `'no handler'`: the module has no such function, or `handlers` has no such name.
 * - `'format'`: another version of lido wrote the job.
 * - `'host fault'`: no worker of this host starts.
 * - `'closing'`: the host is closing, or its pool is closed.
 * - `'full'`: the queue of the pool is full.
 * - `'overload'`: the event loop or the memory of the host is overloaded.
 * - `'prefetched'`: the job waited on this host, and the host closes.
 * - `'too early'`: the job is not due yet.
 */
export type GiveBackReason =
  | 'no handler'
  | 'format'
  | 'host fault'
  | 'closing'
  | 'full'
  | 'overload'
  | 'prefetched'
  | 'too early'

export interface GiveBack {
  reason: GiveBackReason
  /** For how long no host takes the job. */
  delayMs: number
  /** Why this host cannot run the job. */
  error?: unknown
  /** The host told of this job and attempt before. */
  isRepeated?: boolean
}

const giveBacks = new WeakMap<object, GiveBack>()

/** Returns the error that the processor throws for BullMQ. The job waits again when the promise resolves. */
export async function giveBack(job: Job, token: string | undefined, facts: GiveBack): Promise<Error> {
  if (facts.delayMs === 0) await job.moveToWait(token)
  else await job.moveToDelayed(realClock.epochNow() + facts.delayMs, token)
  const thrown = facts.delayMs === 0 ? new WaitingError() : new DelayedError()
  giveBacks.set(thrown, facts)
  return thrown
}

/** What `giveBack()` did, by the error that it returned. `undefined` for any other error. */
export function giveBackOf(thrown: unknown): GiveBack | undefined {
  return giveBacks.get(Object(thrown))
}

const SHORTEST_DELAY_MS = 50
const LONGEST_DELAY_MS = 10_000
/**
 * The delay grows by a fourth. The host that lacks the handler is often idle, and takes most jobs before the host that has it. So a job
 * is refused several times before the right host takes it, and a delay that doubles would make the job wait for seconds.
 */
const GROWTH = 1.25
/** The part of the delay that is random, so that refused jobs do not come back in one moment. */
const JITTER = 0.2
/** The longest time that a slot waits after a refusal. */
const LONGEST_PAUSE_MS = 25
/** More jobs than a host refuses within their delays. */
const MOST_JOBS = 10_000

/** A refused job: how to give it back, or for how long this host has refused it. */
export type Refusal =
  | { isOver: false; isFirst: boolean; delayMs: number; pauseMs: number }
  | { isOver: true; refusedForMs: number }

/** Counts the jobs that this host cannot run. */
export class Refusals {
  readonly #timeoutMs: number
  readonly #now: () => number
  /** When this host first refused each job, oldest first. */
  readonly #firstAt = new Map<string, number>()
  #inARow = 0

  /** @param timeoutMs for how long a job is given back: the option `giveBackTimeout` */
  constructor(timeoutMs: number, now = () => realClock.now()) {
    this.#timeoutMs = timeoutMs
    this.#now = now
  }

  refuse(job: Job): Refusal {
    const key = keyOf(job)
    const now = this.#now()
    const firstAt = this.#firstAt.get(key)
    const refusedForMs = now - (firstAt ?? now)
    if (refusedForMs >= this.#timeoutMs) {
      this.#firstAt.delete(key)
      return { isOver: true, refusedForMs }
    }
    if (firstAt === undefined) this.#remember(key, now)
    this.#inARow++
    // Each fetch of a job is a start in BullMQ's count. So the hosts need not tell each other how often they refused it.
    const refusals = Math.max(1, job.attemptsStarted - job.attemptsMade)
    const delayMs = Math.min(LONGEST_DELAY_MS, SHORTEST_DELAY_MS * GROWTH ** (refusals - 1))
    return {
      isOver: false,
      isFirst: firstAt === undefined,
      delayMs: Math.round(delayMs * (1 - JITTER * Math.random())),
      pauseMs: Math.min(LONGEST_PAUSE_MS, this.#inARow),
    }
  }

  /** This host ran a job. So it takes the next one without a pause. */
  accepted(): void {
    this.#inARow = 0
  }

  #remember(key: string, now: number): void {
    if (this.#firstAt.size >= MOST_JOBS) this.#firstAt.delete(this.#firstAt.keys().next().value!)
    this.#firstAt.set(key, now)
  }
}

/** Another attempt, another job with the same id, and a job that lost its host since then count from their own first refusal. */
function keyOf({ id, timestamp, attemptsMade, stalledCounter }: Job): string {
  return `${id} ${timestamp} ${attemptsMade} ${stalledCounter}`
}

/** A copy of the error whose message ends with the note. Other tasks may have the same error. */
export function withNote(error: Error, note: string): Error {
  const message = `${error.message} ${note}`
  const copy = Object.setPrototypeOf(new Error(message), Object.getPrototypeOf(error)) as Error
  const { message: _, ...fields } = Object.getOwnPropertyDescriptors(error)
  Object.defineProperties(copy, fields)
  const stack = String(error.stack).replace(error.message, () => message)
  return Object.defineProperty(copy, 'stack', { value: stack, configurable: true, writable: true })
}
