// `RemotePool.map()`: packs the items of a map into jobs. Small items share a job, so that the queue's own work is small beside theirs.

import { InvalidTaskError, type PoolError, type PoolMap } from '../../index.js'
import type { ErrorClasses, SubmittedItem } from '../../kit.js'
import { MapRun, Rejection, realClock } from '../../kit.js'
import {
  decodeError,
  decodeValue,
  encodeValue,
  type ItemAnswer,
  isItemAnswer,
  isItemFailure,
  ValueTooLargeError,
} from './job-values.js'
import type { CallAnswer, JobTimes } from './remote-call.js'
import { JobFailedError, restored } from './remote-errors.js'
import type { RemoteMapSettings } from './remote-options.js'

/** What a map needs of its pool. */
export interface ItemsRunner {
  readonly maxValueBytes: number
  /** Runs of an item in all. */
  readonly attempts: number
  readonly classes: ErrorClasses
  /** Resolves when the pool has room for another job. */
  room(): Promise<void>
  /**
   * Adds a job. With `isPacked` its data is an array of payloads. With `needsTimes` the job is read when it has finished. `failures`:
   * failed attempts of its only item. Throws when the pool takes no job.
   */
  submit(
    data: unknown,
    how: { isPacked: boolean; needsTimes: boolean; failures: number },
    onProgress: ((value: unknown) => void) | undefined,
    done: (answer: CallAnswer, times: JobTimes | null) => void,
  ): { cancel(error: unknown): void }
}

interface Item {
  readonly encoded: unknown
  readonly settle: (answer: unknown) => void
  /** Attempts that are left after the next one. */
  attemptsLeft: number
  batch: Batch | null
}

interface Batch {
  items: Item[]
  bytes: number
  /** Items whose answer is still wanted. */
  wanted: number
  call: { cancel(error: unknown): void } | null
}

/** Most unfinished jobs of one map. */
const WINDOW_JOBS = 32
const GOAL_MS = 100
/** One job of so many is read for its times, because a read costs as much as the job's own way through the queue. */
const JOBS_PER_MEASUREMENT = 8
const MOST_ITEMS_PER_JOB = 1000
/** The brackets of the array. */
const BRACKET_BYTES = 2

export function createRemoteMap(
  source: Iterable<unknown> | AsyncIterable<unknown>,
  settings: RemoteMapSettings,
  pool: ItemsRunner,
): PoolMap<any> {
  const { signal, concurrency, ordered, onError, onProgress, onItemProgress } = settings
  const mapSettings = { signal: signal ?? null, concurrency, ordered, onError, onProgress, onItemProgress }
  return new MapRun(source, mapSettings, new Packer(settings, pool))
}

class Packer {
  readonly clock = realClock
  /** The map asks for room before each item. */
  readonly hasQueueLimit = true
  readonly slots = WINDOW_JOBS
  readonly #pool: ItemsRunner
  readonly #isAuto: boolean
  #itemsPerJob: number
  #mostItems = MOST_ITEMS_PER_JOB
  #open: Batch | null = null
  #jobs = 0
  #sent = 0
  #waiting: (() => void) | null = null

  constructor({ itemsPerJob }: RemoteMapSettings, pool: ItemsRunner) {
    this.#pool = pool
    this.#isAuto = itemsPerJob === 'auto'
    this.#itemsPerJob = itemsPerJob === 'auto' ? 1 : itemsPerJob
  }

  /** Most items that the map holds: those of the jobs, and as many results that were not taken. */
  get itemLimit(): number {
    return WINDOW_JOBS * 2 * this.#itemsPerJob
  }

  async room(): Promise<void> {
    if (this.#jobs >= WINDOW_JOBS) {
      await new Promise<void>(resolve => {
        this.#waiting = resolve
      })
    }
    await this.#pool.room()
  }

  submit(submitted: SubmittedItem, onProgress: ((value: unknown) => void) | null): Item {
    const { item: payload } = submitted
    const settle = (answer: unknown) => submitted.settle(answer)
    const { maxValueBytes } = this.#pool
    const encoded = encodeValue(payload, 'payload', Math.max(maxValueBytes - BRACKET_BYTES, 1))
    const item: Item = { encoded, settle, attemptsLeft: this.#pool.attempts - 1, batch: null }
    if (onProgress !== null) {
      this.#send({ items: [item], bytes: 0, wanted: 1, call: null }, onProgress)
      return item
    }
    const bytes = Buffer.byteLength(JSON.stringify(encoded)) + 1
    if (this.#open !== null && this.#open.bytes + bytes + BRACKET_BYTES > maxValueBytes) this.#flush()
    if (this.#open === null) {
      const batch: Batch = { items: [], bytes: 0, wanted: 0, call: null }
      this.#open = batch
      // The items of one turn of the event loop share jobs, and no item waits for later ones.
      realClock.nextTurn(() => {
        if (this.#open === batch) this.#flush()
      })
    }
    const batch = this.#open
    item.batch = batch
    batch.items.push(item)
    batch.wanted++
    batch.bytes += bytes
    if (batch.items.length >= this.#itemsPerJob) this.#flush()
    return item
  }

  /** The job is cancelled with its last item. */
  cancel({ batch }: Item, error: PoolError): void {
    if (batch === null || --batch.wanted > 0) return
    if (batch === this.#open) this.#open = null
    batch.call?.cancel(error)
  }

  #flush(): void {
    const batch = this.#open
    this.#open = null
    if (batch !== null) this.#send(batch)
  }

  #send(batch: Batch, onProgress?: (value: unknown) => void, failures = 0): void {
    for (const item of batch.items) item.batch = batch
    const isPacked = onProgress === undefined
    const data = isPacked ? batch.items.map(({ encoded }) => encoded) : batch.items[0]!.encoded
    const needsTimes = isPacked && this.#isAuto && this.#sent++ % JOBS_PER_MEASUREMENT === 0
    this.#jobs++
    try {
      batch.call = this.#pool.submit(
        data,
        { isPacked, needsTimes, failures },
        onProgress,
        (answer, times) => {
          this.#onDone(batch, isPacked, answer, times)
        },
      )
    } catch (error) {
      this.#onDone(batch, isPacked, { error }, null)
    }
  }

  #onDone(batch: Batch, isPacked: boolean, answer: CallAnswer, times: JobTimes | null): void {
    this.#jobs--
    const { items } = batch
    if ('error' in answer) {
      if (concernsTheJob(answer.error) && items.length > 1 && batch.wanted > 0) this.#sendHalves(items)
      else for (const { settle } of items) settle(new Rejection(answer.error))
    } else if (!isPacked) items[0]!.settle(answer.value)
    else {
      if (times !== null) this.#measure(items.length, times)
      this.#settleItems(items, answer.value)
    }
    if (this.#jobs >= WINDOW_JOBS) return
    this.#waiting?.()
    this.#waiting = null
  }

  #settleItems(items: Item[], value: unknown): void {
    if (!Array.isArray(value) || value.length !== items.length || !value.every(isItemAnswer)) {
      const refusal = new Rejection(
        new InvalidTaskError(
          'itemsPerJob',
          'The host ran the job of a map as one task. Let hosts run jobs with serve() or processor() of the same version.',
        ),
      )
      for (const { settle } of items) settle(refusal)
      return
    }
    for (const [index, item] of items.entries()) {
      const answer: ItemAnswer = value[index]!
      const mayRetry = isItemFailure(answer) && !answer.isFinal && item.attemptsLeft > 0
      if (mayRetry && item.batch!.wanted > 0) this.#retry(item)
      else item.settle(this.#decode(answer))
    }
  }

  #decode(answer: ItemAnswer): unknown {
    const { classes, maxValueBytes } = this.#pool
    try {
      if (!isItemFailure(answer)) return decodeValue(answer.value, 'result', maxValueBytes)
      return new Rejection(restored(decodeError(answer.error, classes, maxValueBytes)))
    } catch (error) {
      return new Rejection(error)
    }
  }

  /** The results of all items were too large for one result, or one of the items ended the host. */
  #sendHalves(items: Item[]): void {
    const half = Math.ceil(items.length / 2)
    this.#mostItems = Math.min(this.#mostItems, half)
    this.#itemsPerJob = Math.min(this.#itemsPerJob, half)
    for (const part of [items.slice(0, half), items.slice(half)]) {
      this.#send({ items: part, bytes: 0, wanted: part.length, call: null })
    }
  }

  /** BullMQ retries a job, not one of its items. So the item gets a job of its own. */
  #retry(item: Item): void {
    const failures = this.#pool.attempts - item.attemptsLeft
    item.attemptsLeft--
    this.#send({ items: [item], bytes: 0, wanted: 1, call: null }, undefined, failures)
  }

  #measure(items: number, { processedOn, finishedOn }: JobTimes): void {
    if (!this.#isAuto || processedOn === undefined || finishedOn === undefined) return
    // The times are whole milliseconds.
    const perItemMs = Math.max(finishedOn - processedOn, 1) / items
    const goal = Math.max(Math.round(GOAL_MS / perItemMs), 1)
    this.#itemsPerJob = Math.min(goal, items * 2, this.#mostItems)
  }
}

/** Errors of a job with several items, of which some may succeed in other jobs. */
function concernsTheJob(error: unknown): boolean {
  return error instanceof ValueTooLargeError || error instanceof JobFailedError
}
