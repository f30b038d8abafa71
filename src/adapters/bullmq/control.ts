// The channel on which callers tell the hosts to cancel a running job. It is the event stream of a queue of its own, which has
// no jobs, so that hosts do not read the events of all jobs.
import { type QueueEventsProducer as Producer, QueueEvents } from 'bullmq'
import { realClock } from '../../kit.js'
import { type Engine, whenReady } from './engine.js'
import { QueueEventsProducer } from './package.js'

const CANCEL = 'lido:cancel'
/** Old events are of no use: a job that has ended cannot be cancelled. */
const KEPT_EVENTS = 1000
/** A job may be cancelled between its fetch and its start. */
const REMEMBERED_MS = 10_000

/** The reason of a cancelled job's signal on its host. The processor then fails the job without another attempt. */
export const CANCELLED_BY_CALLER = 'lido:cancelled-by-caller'

function channelOf(queueName: string): string {
  return `${queueName}.lido`
}

/** Sends cancellations. Connects when it is first used. */
export class CancelSender {
  readonly #queueName: string
  readonly #engine: Engine
  readonly #onError: (error: Error) => void
  #producer: Producer | null = null

  constructor(queueName: string, engine: Engine, onError: (error: Error) => void) {
    this.#queueName = queueName
    this.#engine = engine
    this.#onError = onError
  }

  /** @param addedAt the timestamp of the job, because a newer job may have the same id */
  async send(jobId: string, addedAt: number): Promise<void> {
    const { base, factory } = this.#engine
    if (this.#producer === null) {
      const producer = new QueueEventsProducer(channelOf(this.#queueName), base, factory as never)
      try {
        await whenReady(producer, this.#engine)
      } catch (error) {
        producer.close().catch(() => {})
        throw error
      }
      producer.on('error', this.#onError)
      this.#producer = producer
    }
    await this.#producer.publishEvent({ eventName: CANCEL, jobId, addedAt: String(addedAt) }, KEPT_EVENTS)
  }

  async close(): Promise<void> {
    await this.#producer?.close()
  }
}

/** Receives cancellations. Calls `onCancel` with the id of each cancelled job, whichever host has it. */
export class CancelReceiver {
  readonly #events: QueueEvents
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
    this.#events = new QueueEvents(channelOf(queueName), base, factory as never)
    this.#events.on('error', onError)
    this.#events.on(
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
    await whenReady(this.#events, this.#engine)
  }

  async close(): Promise<void> {
    await this.#events.close()
  }
}
