// Counts the jobs that a host cannot run, and decides for how long it gives each of them back.
import type { Job } from 'bullmq'
import { realClock } from '../../kit.js'

const SHORTEST_DELAY_MS = 50
const LONGEST_DELAY_MS = 10_000
/**
 * The delay grows by a twentieth. The host that lacks the handler is often idle, and takes most jobs before the host that has it. So a job
 * is refused several times before the right host takes it, and a delay that doubles would make the job wait for seconds.
 */
const GROWTH = 1.05
/** The part of the delay that is random, so that refused jobs do not come back in one moment. */
const JITTER = 0.2
/** The longest time that a slot waits after a refusal. */
const LONGEST_PAUSE_MS = 50
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
