// Sends the progress of a task to the queue. One message is under way at a time. While it is, a newer value replaces the one that waits.
import type { Job, JobProgress } from 'bullmq'
import { encodeValue } from './job-values.js'

export class ProgressSender {
  readonly #job: Job
  readonly #isEncoded: boolean
  #waiting: { value: unknown } | null = null
  #sending: Promise<void> | null = null

  /** @param isEncoded the reader is a `RemotePool` */
  constructor(job: Job, isEncoded: boolean) {
    this.#job = job
    this.#isEncoded = isEncoded
  }

  send(value: unknown): void {
    this.#waiting = { value }
    this.#sending ??= this.#sendAll()
  }

  /** Resolves when the queue has the last value. */
  async sent(): Promise<void> {
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    // The values of one turn become one message.
    await null
    while (this.#waiting !== null) {
      const { value } = this.#waiting
      this.#waiting = null
      try {
        const encoded = this.#isEncoded ? encodeValue(value, 'result', Number.POSITIVE_INFINITY) : value
        await this.#job.updateProgress(encoded as JobProgress)
      } catch {
        // The connection is interrupted. Progress is of no use later, and the result is sent again by BullMQ.
      }
    }
    this.#sending = null
  }
}
