// The job of one call of a `RemotePool`: its name, its data, and the options that BullMQ gets.
import { InvalidTaskError, valueSymbol } from '../../index.js'
import { realClock } from '../../kit.js'
import type { EncodedCarrier } from './carrier.js'
import type { Engine } from './engine.js'
import { encodeValue, FORMAT_VERSION, type JobTerms } from './job-values.js'
import { type KeepResults, keepOptionFor } from './kept-results.js'
import type { RunSettings, resolvePool } from './remote-options.js'

export interface JobOrder {
  readonly name: string
  readonly data: unknown
  /** Without what depends on the server. */
  readonly opts: { readonly lido: JobTerms; readonly delay: number; readonly [option: string]: unknown }
  /** By the clock of this machine. */
  readonly deadline: number | undefined
  readonly keepResults: KeepResults
}

/** `args`: the value is an array of arguments. `items`: the value is an array of encoded payloads. */
export type Payload = { value: unknown; kind?: 'args' | 'items' | 'item' }

/**
 * Throws `InvalidTaskError`, `NotCloneableError` and `ValueTooLargeError`.
 * @param carrier what the context of the caller carries
 */
export function orderOf(
  { value, kind }: Payload,
  settings: Omit<RunSettings, 'signal' | 'queueTimeout' | 'onProgress' | 'jobId'>,
  pool: ReturnType<typeof resolvePool>,
  carrier: EncodedCarrier | undefined,
): JobOrder {
  const { deadline, delay, priority } = settings
  const timeout = settings.timeout ?? pool.timeout
  const isEncoded = kind === 'items' || kind === 'item'
  return {
    name: settings.name ?? pool.name,
    data: isEncoded ? value : encodePayload(value, kind, pool.maxValueBytes),
    opts: {
      attempts: settings.attempts ?? pool.attempts,
      backoff: settings.backoff ?? pool.backoff,
      delay,
      ...placeOf(priority),
      lido: {
        format: FORMAT_VERSION,
        ...(kind === 'args' && { args: true }),
        ...(kind === 'items' && { items: true }),
        ...(timeout < Number.POSITIVE_INFINITY && { timeout }),
        ...(carrier !== undefined && { carrier }),
      },
    },
    deadline: deadline === undefined ? undefined : Number(deadline),
    keepResults: pool.keepResults,
  }
}

/** The options of the job when it is added. Its times are by the clock of the server, by which hosts read them. */
export function optionsAt(order: JobOrder, jobId: string, engine: Engine): JobOrder['opts'] {
  const { opts, deadline, keepResults } = order
  const now = engine.now()
  const kept = keepOptionFor(keepResults, engine.isPostgres)
  const lido =
    deadline === undefined
      ? opts.lido
      : { ...opts.lido, deadline: Math.round(now + deadline - realClock.epochNow()) }
  return { ...opts, lido, jobId, timestamp: Math.round(now), removeOnComplete: kept, removeOnFail: kept }
}

/**
 * Most jobs have no priority in BullMQ. Then `LLEN` of the wait list counts them, and BullMQ wakes idle workers for them. BullMQ starts the
 * jobs that have one after the others, those with a lower number first.
 */
function placeOf(priority: number): { priority?: number; lifo?: true } {
  if (priority === 0) return {}
  return priority < 0 ? { priority: -priority } : { lifo: true }
}

function encodePayload(value: unknown, kind: Payload['kind'], maxValueBytes: number): unknown {
  const parts = kind === 'args' ? (value as unknown[]) : [value]
  if (parts.some(part => part !== null && typeof part === 'object' && valueSymbol in part)) {
    throw new InvalidTaskError(
      'payload',
      'A moved payload cannot go to another machine, because the queue carries bytes. Pass the value without move(); it is copied.',
    )
  }
  return encodeValue(value, 'payload', maxValueBytes)
}
