// Gives jobs back to the queue, because another host may run what this one cannot. No attempt is used up.
import { DelayedError, type Job } from 'bullmq'
import { realClock } from '../../kit.js'
import { repeatWrite } from './job-writes.js'
import { commandsOf, keysOf, redisOf, WaitingError } from './package.js'

/**
 * Why a host gave a job back:
 *
 * - `'no handler'`: the module has no such function, or `handlers` has no such name.
 * - `'format'`: another version of lido wrote the job.
 * - `'host fault'`: no worker of this host starts.
 * - `'closing'`: the host is closing, or its pool is closed.
 * - `'full'`: the queue of the pool is full.
 * - `'overload'`: the event loop or the memory of the host is overloaded.
 * - `'prefetched'`: the host fetched the job ahead, and all its slots run long jobs.
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

/**
 * PostgreSQL. As BullMQ's function `move_active_to_wait()`, except that the job keeps its place. That function puts a job without a priority
 * behind all others.
 */
const MOVE_TO_WAIT = `
  WITH moved AS (
    UPDATE job SET state = 'waiting', lock_token = NULL, locked_until_ms = NULL
    WHERE queue = $1 AND id = $2 AND state = 'active' AND lock_token = $3
    RETURNING queue, id
  )
  SELECT pg_notify('bullmq_jobs', queue), publish_event(queue, 'waiting', jsonb_build_object('jobId', id, 'prev', 'active'))
  FROM moved`

/** Redis. Wakes a host that waits for a job. BullMQ's own scripts do so only for jobs without a priority. */
const wakeScript = { numberOfKeys: 1, lua: "return redis.call('ZADD', KEYS[1], 0, '0')" }

const giveBacks = new WeakMap<object, GiveBack>()

/**
 * Returns the error that the processor throws for BullMQ. The job waits again when the promise resolves. Without a delay it comes before
 * the jobs of its priority that were added later.
 */
export async function giveBack(job: Job, token: string | undefined, facts: GiveBack): Promise<Error> {
  const thrown = await moveBack(job, token ?? '', facts.delayMs)
  giveBacks.set(thrown, facts)
  return thrown
}

async function moveBack(job: Job, token: string, delayMs: number): Promise<Error> {
  if (delayMs > 0) {
    // By the clock of this host, because this host must not fetch the job again before.
    await job.moveToDelayed(realClock.epochNow() + delayMs, token)
    return new DelayedError()
  }
  const commands = commandsOf(job)
  if (typeof commands.query === 'function') {
    await repeatWrite(job, 'moveToWait', () =>
      commands.query(MOVE_TO_WAIT, [commands.queueName, job.id, token]),
    )
  } else {
    await job.moveToWait(token)
    await wake(job)
  }
  return new WaitingError()
}

/**
 * Sent for each job, because a host that is closing may take the first mark with it. Without a mark the other hosts find the job within
 * `drainDelay` (5 s).
 */
async function wake(job: Job): Promise<void> {
  const { marker } = keysOf(job)
  if (marker === undefined) return
  try {
    const client = await redisOf(job)
    if (client.lidoWake === undefined) client.defineCommand('lidoWake', wakeScript)
    await client.lidoWake(marker)
  } catch {
    // The connection was closed. The job waits already.
  }
}

/** What `giveBack()` did, by the error that it returned. `undefined` for any other error. */
export function giveBackOf(thrown: unknown): GiveBack | undefined {
  return giveBacks.get(Object(thrown))
}

/** Clocks that differ by less than this are equal. */
const CLOCK_TOLERANCE_MS = 500

/**
 * How much of its delay a job still has to wait by the clock of the server, when this host's clock is ahead and the host therefore took
 * the job too early. A job that a client promoted, or that waited for another attempt, has no such rest.
 */
export function restOfDelay(job: Job, serverNow: number): number {
  const { delay } = job.opts
  if (typeof delay !== 'number' || !(delay > 0) || job.attemptsMade > 0) return 0
  const dueAt = job.timestamp + delay
  const now = realClock.epochNow()
  const isAhead = now - serverNow > CLOCK_TOLERANCE_MS
  const restMs = dueAt - serverNow
  return isAhead && dueAt <= now + CLOCK_TOLERANCE_MS && restMs > CLOCK_TOLERANCE_MS ? restMs : 0
}
