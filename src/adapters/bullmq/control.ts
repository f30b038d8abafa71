// How a cancellation travels. The hosts read a channel of their own: the event stream of a queue that has no jobs, so that hosts do not
// read the events of all jobs. The callers read it among the events of the queue, which they read anyway.
import { type QueueEventsProducer as Producer, type Queue, QueueEvents } from 'bullmq'
import { realClock } from '../../kit.js'
import { type Engine, whenReady } from './engine.js'
import { QueueEventsProducer } from './package.js'

const CANCEL = 'lido:cancel'
/** Somebody called `RemotePool.cancel()` for the job. */
const CANCELLED = 'lido:cancelled'
/** Old events are of no use: a job that has ended cannot be cancelled. */
const KEPT_EVENTS = 1000
/** A job may be cancelled between its fetch and its start. */
const REMEMBERED_MS = 10_000
/** What BullMQ keeps of the events of a queue, unless the queue says otherwise. */
const KEPT_QUEUE_EVENTS = 10_000

/** The reason of a cancelled job's signal on its host. The processor then fails the job without another attempt. */
export const CANCELLED_BY_CALLER = 'lido:cancelled-by-caller'

function channelOf(queueName: string): string {
  return `${queueName}.lido`
}

/** Sends cancellations. Connects when it is first used. */
export class CancelSender {
  readonly #engine: Engine
  readonly #onError: (error: Error) => void
  /** By the name of the queue. */
  readonly #producers = new Map<string, Promise<Producer>>()

  constructor(engine: Engine, onError: (error: Error) => void) {
    this.#engine = engine
    this.#onError = onError
  }

  /** @param addedAt the timestamp of the job, because a newer job may have the same id */
  async tellHosts(queue: Queue, jobId: string, addedAt: number): Promise<void> {
    const producer = await this.#producer(channelOf(queue.name))
    await producer.publishEvent({ eventName: CANCEL, jobId, addedAt: String(addedAt) }, KEPT_EVENTS)
  }

  async tellCallers(queue: Queue, jobId: string): Promise<void> {
    const producer = await this.#producer(queue.name)
    // The number also trims the events of the queue.
    const { maxLenEvents = KEPT_QUEUE_EVENTS } = await queue.getMeta()
    await producer.publishEvent({ eventName: CANCELLED, jobId }, maxLenEvents)
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#producers.values()].map(async producer => (await producer).close()))
  }

  #producer(queueName: string): Promise<Producer> {
    let producer = this.#producers.get(queueName)
    if (producer === undefined) {
      producer = this.#connect(queueName)
      producer.catch(() => this.#producers.delete(queueName))
      this.#producers.set(queueName, producer)
    }
    return producer
  }

  async #connect(queueName: string): Promise<Producer> {
    const { base, factory } = this.#engine
    const producer = new QueueEventsProducer(queueName, base, factory as never)
    try {
      await whenReady(producer, this.#engine)
    } catch (error) {
      producer.close().catch(() => {})
      throw error
    }
    producer.on('error', this.#onError)
    return producer
  }
}

/** Calls `onCancelled` with the id of each job that somebody cancelled for all its callers. */
export function onCancelledJob(events: QueueEvents, onCancelled: (jobId: string) => void): void {
  events.on(CANCELLED as never, (({ jobId }: { jobId: string }) => onCancelled(jobId)) as never)
}

/** Receives cancellations. Calls `onCancel` with the id of each cancelled job, whichever host has it. */
export class CancelReceiver {
  /** BullMQ's reader. */
  readonly events: QueueEvents
  readonly #engine: Engine
  /** The timestamps of jobs that callers cancelled a moment ago, by the ids of the jobs. */
  readonly #cancelled = new Map<string, number>()

  constructor(
    queueName: string,
    engine: Engine,
    onCancel: (jobId: string) => void,
    onError: (error: Error) => void,
  ) {
    const { base, factory } = engine
    this.#engine = engine
    this.events = new QueueEvents(channelOf(queueName), base, factory as never)
    this.events.on('error', onError)
    this.events.on(
      CANCEL as never,
      (({ jobId, addedAt }: { jobId: string; addedAt: string }) => {
        this.#cancelled.set(jobId, Number(addedAt))
        realClock.after(REMEMBERED_MS, () => this.#cancelled.delete(jobId))
        onCancel(jobId)
      }) as never,
    )
  }

  /** Whether a caller cancelled the job a moment ago. */
  has(jobId: string, addedAt: number): boolean {
    return this.#cancelled.get(jobId) === addedAt
  }

  async ready(): Promise<void> {
    await whenReady(this.events, this.#engine)
  }

  async close(): Promise<void> {
    await this.events.close()
  }
}
