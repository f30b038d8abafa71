// Repeats the writes that tell the queue how a job ended. BullMQ fails a job that succeeded when the write of its result meets a killed
// connection, a failover or a full server.
import type { Job, Worker } from 'bullmq'
import { realClock } from '../../kit.js'
import { troubleOf } from './server-errors.js'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000
const LIMIT_MS = 300_000
const CLOSE_LIMIT_MS = 30_000

const writes = ['moveToCompleted', 'moveToFailed', 'moveToWait', 'moveToDelayed'] as const
type WriteName = (typeof writes)[number]
type Method = (...args: any[]) => Promise<unknown>

/** BullMQ's codes: the job does not exist, its lock is missing, it is not active, its lock is another's. */
const goneCodes: readonly unknown[] = [-1, -2, -3, -6]

/** The job stays locked by this host. When the lock expires, another host runs the job again. */
class UnwrittenJobError extends Error {
  constructor(jobId: string | undefined, cause: unknown) {
    const reason = troubleOf(cause)?.state ?? (cause as Error).message
    super(
      `The queue does not know how job ${jobId} ended, because ${reason}. A host runs it again when its lock has expired.`,
      { cause },
    )
  }
}

/** For how long the writes of each job may be repeated while its worker closes. */
const prepared = new WeakMap<Job, number>()

/**
 * Changes the methods of this job that BullMQ and lido call at its end.
 * @param closeLimitMs how long a write may be repeated while the worker closes
 */
export function repeatWrites(job: Job, closeLimitMs = CLOSE_LIMIT_MS): void {
  if (prepared.has(job)) return
  prepared.set(job, closeLimitMs)
  const methods = job as unknown as Partial<Record<WriteName, Method>>
  for (const name of writes) {
    // A test may call a processor with a job of its own.
    const write = methods[name]?.bind(job)
    if (write === undefined) continue
    methods[name] = async (...args) => {
      // The host stopped repeating the write of the result. The job must not fail for it.
      if (name === 'moveToFailed' && args[0] instanceof UnwrittenJobError) throw args[0]
      return await repeatWrite(job, name, () => write(...args))
    }
  }
}

/** @param name the method of BullMQ that does the same as `write` */
export async function repeatWrite(
  job: Job,
  name: WriteName,
  write: () => Promise<unknown>,
): Promise<unknown> {
  const { stacktrace } = job
  const isOver = timeLimit(job, prepared.get(job) ?? CLOSE_LIMIT_MS)
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      // BullMQ adds the stack of the error before each write.
      if (stacktrace) job.stacktrace = [...stacktrace]
      return await write()
    } catch (error) {
      try {
        if (goneCodes.includes((error as { code?: unknown }).code) && (await isWritten(job, name)))
          return undefined
        if (troubleOf(error) === null) throw error
        if (isOver()) throw new UnwrittenJobError(job.id, error)
      } catch (failure) {
        if (troubleOf(failure) === null) throw failure
      }
    }
    // A closed worker must not keep the process alive.
    await pause(pauseMs, !isClosing(job))
  }
}

/** An earlier write may have reached the server without an answer to this host. */
async function isWritten(job: Job, name: WriteName): Promise<boolean> {
  const state = await job.getState()
  if (name !== 'moveToCompleted') return state !== 'active'
  return state === 'completed' || (state === 'unknown' && Boolean(job.opts.removeOnComplete))
}

function timeLimit(job: Job, closeLimitMs: number): () => boolean {
  const endsAt = realClock.now() + LIMIT_MS
  let closedAt: number | null = null
  return () => {
    const now = realClock.now()
    if (isClosing(job)) closedAt ??= now
    return now > endsAt || (closedAt !== null && now - closedAt >= closeLimitMs)
  }
}

const FETCH_PAUSE_MS = 500

/** After an error of a server that answers, BullMQ fetches again at once: thousands of times a second. */
export function slowFailingFetches(worker: Worker): void {
  const methods = worker as unknown as { moveToActive: Method }
  const fetch = methods.moveToActive.bind(worker)
  let failures = 0
  methods.moveToActive = async (...args) => {
    try {
      const fetched = await fetch(...args)
      failures = 0
      return fetched
    } catch (error) {
      if (++failures > 1) await pause(FETCH_PAUSE_MS)
      throw error
    }
  }
}

function isClosing(job: Job): boolean {
  return Boolean((job as unknown as { queue: { closing?: unknown } }).queue.closing)
}

function pause(delayMs: number, keepsAlive = true): Promise<void> {
  return new Promise(resolve => realClock.after(delayMs, resolve, keepsAlive))
}
