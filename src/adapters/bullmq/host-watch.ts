// Warns once when calls of a `RemotePool` wait because no host serves their queue.
import { realClock, type Timer } from '../../kit.js'
import type { OpenCalls } from './open-calls.js'
import type { RemoteConnection } from './remote-connection.js'

const LEAST_WAIT_MS = 5000
/** A call that started together with the timer has waited long enough then. */
const FIRST_LOOK_MS = 6000
const LONGEST_PAUSE_MS = 60_000

export class HostWatch {
  readonly #queueName: string
  readonly #connection: RemoteConnection
  readonly #calls: OpenCalls
  #timer: Timer | null = null
  #pauseMs = FIRST_LOOK_MS
  #hasEnded = false

  constructor(queueName: string, connection: RemoteConnection, calls: OpenCalls) {
    this.#queueName = queueName
    this.#connection = connection
    this.#calls = calls
  }

  /** Call it when a call starts. */
  start(): void {
    if (this.#hasEnded || this.#timer !== null) return
    this.#timer = realClock.after(this.#pauseMs, () => void this.#look(), false)
  }

  end(): void {
    this.#hasEnded = true
    this.#timer?.cancel()
  }

  async #look(): Promise<void> {
    if (this.#countWaiting() > 0) {
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
      if (await this.#isWithoutHost()) this.#warn(this.#countWaiting())
    }
    this.#timer = null
    if (this.#calls.size > 0) this.start()
  }

  #countWaiting(): number {
    return [...this.#calls].filter(({ waitedMs }) => waitedMs >= LEAST_WAIT_MS).length
  }

  #warn(calls: number): void {
    if (calls === 0 || this.#hasEnded) return
    this.end()
    const waiting = calls === 1 ? 'a call has' : `${calls} calls have`
    process.emitWarning(
      `No host serves the queue '${this.#queueName}', and ${waiting} waited for more than ${LEAST_WAIT_MS / 1000} s. Start a host with serve('${this.#queueName}', pool, options). If one runs, compare its server, queue name and prefix.`,
      { type: 'LidoWarning', code: 'LIDO_NO_HOST' },
    )
  }

  /** `false` also when the server does not say. */
  async #isWithoutHost(): Promise<boolean> {
    try {
      const opened = await this.#connection.open({ isWanted: () => !this.#hasEnded })
      if (opened === undefined || (await opened.queue.getWorkersCount()) > 0) return false
      // Some servers hide or cut the names of connections. Then the name of this program's reader of events is missing too.
      return (await opened.queue.getQueueEvents()).length > 0
    } catch {
      return false
    }
  }
}
