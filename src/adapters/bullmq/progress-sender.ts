// Sends the progress of a task to the queue. One message is under way at a time. While it is, a newer value replaces the one that waits.
import type { Job, JobProgress } from 'bullmq'
import { encodeValue } from './job-values.js'

export class ProgressSender {
  readonly #job: Job
  readonly #maxBytes: number | null
  #waiting: { value: unknown } | null = null
  #sending: Promise<void> | null = null

  /** @param maxBytes the largest value for a `RemotePool`; `null`: another client added the job, and reads plain values */
  constructor(job: Job, maxBytes: number | null) {
    this.#job = job
    this.#maxBytes = maxBytes
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
        const encoded = this.#maxBytes === null ? value : encodeValue(value, 'result', this.#maxBytes)
        await this.#job.updateProgress(encoded as JobProgress)
      } catch {
        // The value cannot be sent, or the connection is interrupted. Then it is of no use later. BullMQ sends the result again.
      }
    }
    this.#sending = null
  }
}
