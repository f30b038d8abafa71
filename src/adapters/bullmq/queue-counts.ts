// What `RemotePool.counts()` says about the queue.
import type { Engine } from './engine.js'
import { postgresOf } from './postgres.js'
import { redisClientsOf } from './redis.js'
import type { Opened } from './remote-connection.js'

/** The jobs in a queue, of all programs. */
export interface QueueCounts {
  /** All jobs that a host could take now, whatever their priority, and also while the queue is paused. */
  waiting: number
  /** Jobs that a host has. */
  running: number
  /** For how long the oldest of the waiting jobs could have been taken, in milliseconds by the clock of the server. 0 without one. */
  oldestWaitingMs: number
  /** BullMQ's states: `active`, `completed`, `delayed`, `failed`, `paused`, `prioritized`, `waiting-children`. */
  [state: string]: number
}

const states = [
  'active',
  'completed',
  'delayed',
  'failed',
  'paused',
  'prioritized',
  'waiting',
  'waiting-children',
] as const
/** Redis has no index by age. */
const MOST_JOBS_READ = 200
const NONE = Number.POSITIVE_INFINITY

type Queue = Opened['queue']

interface RedisClient {
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>
}

export async function countsOf({ queue }: Opened, engine: Engine): Promise<QueueCounts> {
  // BullMQ 6 has no type for 'paused', and counts it.
  const counts = (await queue.getJobCounts(...(states as readonly string[] as never[]))) as Record<
    (typeof states)[number],
    number
  >
  const waiting = counts.waiting + counts.prioritized + counts.paused
  const oldest = waiting === 0 ? NONE : await oldestOf(queue)
  const oldestWaitingMs = Math.max(Math.round(engine.now() - oldest), 0)
  return { ...counts, waiting, running: counts.active, oldestWaitingMs }
}

/** When the oldest waiting job was added or became due. */
async function oldestOf(queue: Queue): Promise<number> {
  const postgres = postgresOf(queue)
  if (postgres !== null) return await oldestInPostgres(queue.name, postgres)
  const [client] = await redisClientsOf(queue)
  return client === undefined ? NONE : await oldestInRedis(queue, client as never)
}

/** Exact. */
async function oldestInPostgres(
  queueName: string,
  asked: NonNullable<ReturnType<typeof postgresOf>>,
): Promise<number> {
  const text =
    "SELECT min(greatest(added_at_ms, process_at_ms)) AS since FROM job WHERE queue = $1 AND state = 'waiting'"
  const { rows } = await asked.query(text, [queueName])
  return Number(rows[0]?.since ?? NONE)
}

/** Reads two fields of the first jobs of each list, which hosts take next. */
async function oldestInRedis(queue: Queue, client: RedisClient): Promise<number> {
  const lists = ['waiting', 'paused', 'prioritized'].map(
    async state => await queue.getRanges([state as never], 0, MOST_JOBS_READ - 1, true),
  )
  const ids = (await Promise.all(lists)).flat()
  const times = ids.map(async id => {
    const [timestamp, opts] = await client.hmget(queue.toKey(id), 'timestamp', 'opts')
    if (timestamp == null) return NONE
    const { delay } = JSON.parse(opts ?? '{}') as { delay?: number }
    return Number(timestamp) + (delay ?? 0)
  })
  return Math.min(...(await Promise.all(times)))
}
