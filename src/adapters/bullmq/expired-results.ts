// Removes the finished jobs whose options limit their age. BullMQ itself removes them only when another job finishes, so they would stay
// in a queue that has no more jobs.
//
// Cost: at most 10,000 remembered jobs (about 1 MB) and one request a second while some of them are due. Each sweep reads the options, and
// no payloads, of at most 2,000 finished jobs that it keeps: one sweep every 10 minutes.
import type { Job, Worker } from 'bullmq'
import { realClock, type Timer } from '../../kit.js'
import { commandsOf, keysOf, redisOf } from './package.js'

const MOST_REMEMBERED = 10_000
/** Jobs that are due at about the same time are removed together. */
const BATCH_EVERY_MS = 1000
const SWEEP_EVERY_MS = 10 * 60_000
const MOST_KEPT_A_SWEEP = 2000
const PAGE = 100
const PAUSE_MS = 20

type FinishedState = 'completed' | 'failed'
const keepOptions = { completed: 'removeOnComplete', failed: 'removeOnFail' } as const

interface Finished {
  readonly id: string
  /** A later run of the same job has another time. */
  readonly finishedOn: number
  readonly dueAt: number
}

/** Where a sweep goes on. `kept`: how many jobs of the page stay. `null`: the page was the last one. */
interface Page {
  readonly kept: number
  readonly next: unknown
}

/** What one kind of server does. */
interface ResultStore {
  /** Removes the jobs that are still the same finished jobs. */
  remove(jobs: readonly Finished[]): Promise<void>
  /** Removes the jobs of one page that are due. @param place `null` for the first page */
  sweep(state: FinishedState, place: unknown, now: number): Promise<Page>
}

/** The results on the server of one host. Ends with `end()`. */
export class ExpiredResults {
  readonly #worker: Worker
  readonly #serverNow: () => number
  readonly #onError: (error: unknown) => void
  readonly #store: ResultStore | null
  /** In the order of `dueAt`. */
  readonly #remembered: Finished[] = []
  readonly #places = new Map<FinishedState, unknown>()
  #dueTimer: Timer | null = null
  #sweepTimer: Timer
  #hasEnded = false

  /** @param worker is connected */
  constructor(worker: Worker, serverNow: () => number, onError: (error: unknown) => void) {
    this.#worker = worker
    this.#serverNow = serverNow
    this.#onError = onError
    this.#store = storeOf(worker)
    worker.on('completed', job => this.#remember(job, 'completed'))
    worker.on('failed', job => this.#remember(job, 'failed'))
    this.#sweepTimer = realClock.after(0, () => void this.#sweepAll())
  }

  end(): void {
    this.#hasEnded = true
    this.#dueTimer?.cancel()
    this.#sweepTimer.cancel()
  }

  #remember(job: Job | undefined, state: FinishedState): void {
    // A failed attempt that is not the last one has no end.
    if (job?.id === undefined || !job.finishedOn || this.#store === null) return
    const option = keepOptions[state]
    const age = ageOf(job.opts[option] ?? this.#worker.opts[option])
    if (age === null) return
    const finished = { id: job.id, finishedOn: job.finishedOn, dueAt: job.finishedOn + age * 1000 }
    const list = this.#remembered
    // BullMQ removes the old jobs of a busy queue, and a sweep finds the others.
    if (list.length === MOST_REMEMBERED) list.splice(0, MOST_REMEMBERED / 10)
    let index = list.length
    while (index > 0 && list[index - 1]!.dueAt > finished.dueAt) index--
    list.splice(index, 0, finished)
    if (index === 0) this.#schedule()
  }

  #schedule(): void {
    this.#dueTimer?.cancel()
    const [first] = this.#remembered
    if (first === undefined || this.#hasEnded) return
    const waitMs = Math.max(BATCH_EVERY_MS, first.dueAt - realClock.epochNow())
    this.#dueTimer = realClock.after(waitMs, () => void this.#removeDue())
  }

  async #removeDue(): Promise<void> {
    const now = realClock.epochNow()
    let count = 0
    while (count < PAGE && (this.#remembered[count]?.dueAt ?? Number.POSITIVE_INFINITY) <= now) count++
    const due = this.#remembered.splice(0, count)
    if (due.length > 0) await this.#try(() => this.#store!.remove(due))
    this.#schedule()
  }

  /** Finds what hosts have left that no longer run, and what this host did not remember. */
  async #sweepAll(): Promise<void> {
    if (this.#store === null) return
    await this.#try(async () => {
      for (const state of ['completed', 'failed'] as const) await this.#sweep(this.#store!, state)
    })
    if (this.#hasEnded) return
    // Hosts that started together do not sweep together.
    const delayMs = SWEEP_EVERY_MS * (0.9 + Math.random() * 0.2)
    this.#sweepTimer = realClock.after(delayMs, () => void this.#sweepAll())
  }

  async #sweep(store: ResultStore, state: FinishedState): Promise<void> {
    let kept = 0
    let place: unknown = this.#places.get(state) ?? null
    while (kept < MOST_KEPT_A_SWEEP && !this.#hasEnded) {
      const page = await store.sweep(state, place, this.#serverNow())
      kept += page.kept
      place = page.next
      if (place === null) break
      await new Promise<void>(resolve => {
        realClock.after(PAUSE_MS, resolve)
      })
    }
    // The next sweep goes on here, so that it also comes to the end of a long list.
    this.#places.set(state, place)
  }

  async #try(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      if (!this.#hasEnded) this.#onError(error)
    }
  }
}

/** `null`: the option sets no age. */
function ageOf(keep: unknown): number | null {
  const { age } = Object(keep) as { age?: unknown }
  return typeof age === 'number' && age >= 0 ? age : null
}

/** `null` for a server that is neither PostgreSQL nor Redis. */
function storeOf(worker: Worker): ResultStore | null {
  if (keysOf(worker).completed !== undefined) return redisStore(worker)
  return typeof commandsOf(worker).query === 'function' ? postgresStore(worker) : null
}

function redisStore(worker: Worker): ResultStore {
  const commands = commandsOf(worker)
  async function removeAll(ids: readonly string[]): Promise<void> {
    // BullMQ refuses to remove a job that runs again, and the next one of a scheduler.
    await Promise.allSettled(ids.map(id => commands.remove(id, false)))
  }
  return {
    async remove(jobs) {
      const client = await redisOf(worker)
      const read = async ({ id, finishedOn }: Finished) => {
        const [found] = await client.hmget(worker.toKey(id), 'finishedOn')
        return found === String(finishedOn) ? [id] : []
      }
      await removeAll((await Promise.all(jobs.map(read))).flat())
    },
    async sweep(state, place, now) {
      const client = await redisOf(worker)
      const first = (place as number | null) ?? 0
      const ids: string[] = await client.zrange(keysOf(worker)[state], first, first + PAGE - 1)
      const option = keepOptions[state]
      const read = async (id: string) => {
        const [finishedOn, opts] = await client.hmget(worker.toKey(id), 'finishedOn', 'opts')
        if (finishedOn === null || opts === null) return []
        const age = ageOf(JSON.parse(opts)[option] ?? worker.opts[option])
        return age !== null && Number(finishedOn) + age * 1000 <= now ? [id] : []
      }
      const due = (await Promise.all(ids.map(read))).flat()
      await removeAll(due)
      const kept = ids.length - due.length
      return { kept, next: ids.length < PAGE ? null : first + kept }
    },
  }
}

/** One statement removes what BullMQ's own function `apply_retention()` removes. */
function postgresStore(worker: Worker): ResultStore {
  const commands = commandsOf(worker)
  return {
    async remove(jobs) {
      await commands.query(
        `DELETE FROM job USING unnest($2::text[], $3::bigint[]) AS finished (id, finished_at_ms)
         WHERE job.queue = $1 AND job.id = finished.id AND job.state IN ('completed', 'failed')
           AND job.finished_at_ms = finished.finished_at_ms`,
        [worker.name, jobs.map(({ id }) => id), jobs.map(({ finishedOn }) => finishedOn)],
      )
    },
    async sweep(state, place, now) {
      const option = keepOptions[state]
      const { finishedOn = -1, id = '' } = (place ?? {}) as { finishedOn?: number; id?: string }
      const { rows } = await commands.query(
        `WITH page AS (
           SELECT id, finished_at_ms, COALESCE(opts -> '${option}', $5::jsonb) -> 'age' AS age
           FROM job
           WHERE queue = $1 AND state = '${state}' AND (finished_at_ms, id) > ($2::bigint, $3)
           ORDER BY finished_at_ms, id
           LIMIT ${PAGE}
         ), removed AS (
           DELETE FROM job USING page
           WHERE job.queue = $1 AND job.id = page.id AND job.state = '${state}'
             AND job.finished_at_ms = page.finished_at_ms
             AND CASE jsonb_typeof(age) WHEN 'number' THEN page.finished_at_ms + age::numeric * 1000 <= $4::bigint END
           RETURNING job.id
         )
         SELECT page.id, page.finished_at_ms, (SELECT count(*) FROM removed) AS removed
         FROM page
         ORDER BY page.finished_at_ms, page.id`,
        [worker.name, finishedOn, id, now, JSON.stringify(worker.opts[option] ?? null)],
      )
      const last = rows.at(-1)
      const next = rows.length < PAGE ? null : { finishedOn: Number(last.finished_at_ms), id: last.id }
      return { kept: rows.length - Number(last?.removed ?? 0), next }
    },
  }
}
