// Sends the lines of loggers to the host, in order, and in batches: one message for the lines of a task or of a turn of the event loop.
import type { Carrier } from '../../shared/context/carried.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { HostPort } from '../../shared/messages/messages.js'
import { workerClock } from './clock.js'

/** A handler that never lets the event loop turn sends at this size. */
const MOST_CHARACTERS = 2 ** 16
/**
 * So many messages in so much time are sent at once, so that the lines before an endless loop arrive. The lines after them wait for the
 * others of their turn.
 */
const PROMPT_MESSAGES = 10
const PROMPT_MS = 1

export interface LoggingTask {
  readonly taskId: number
  readonly handler: HandlerRef
  /** The values of the carried stores of the caller. */
  readonly carried: Carrier | null
}

/** Takes the lines of a logger of this thread. */
export interface LogSink {
  /** The host drops lines below this level. 0 until the host has told its level. */
  readonly level: number
  readonly workerId: number
  /** The task whose handler writes the lines. `null`: code outside a task. */
  readonly task: LoggingTask | null
  /** Tells the host that this worker has a logger, so that the host tells its level. */
  announce(): void
  /** @param line ends with a newline, and has no other */
  write(level: number, line: string): void
  flush(): void
}

export class LogSender implements LogSink {
  readonly task = null
  readonly workerId: number
  level = 0
  readonly #port: HostPort
  #lines = ''
  #promptFrom = Number.NEGATIVE_INFINITY
  #promptMessages = 0
  #isPlanned = false
  #isAnnounced = false
  #isEnding = false

  constructor(port: HostPort, workerId: number) {
    this.#port = port
    this.workerId = workerId
  }

  announce(): void {
    if (!this.#isAnnounced) this.#send('')
  }

  write(level: number, line: string): void {
    this.#lines += `${level} ${line}`
    if (this.#isEnding || this.#lines.length >= MOST_CHARACTERS || this.#isPrompt()) this.flush()
    else this.#plan()
  }

  #isPrompt(): boolean {
    const now = workerClock.now()
    if (now - this.#promptFrom < PROMPT_MS) return ++this.#promptMessages <= PROMPT_MESSAGES
    this.#promptFrom = now
    this.#promptMessages = 1
    return true
  }

  flush(): void {
    if (this.#lines === '') return
    const lines = this.#lines
    this.#lines = ''
    this.#send(lines)
  }

  /** Call it when the worker exits. Later lines are sent at once, because the event loop turns no more. */
  end(): void {
    this.#isEnding = true
    this.flush()
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    workerClock.nextTurn(() => {
      this.#isPlanned = false
      this.flush()
    })
  }

  #send(lines: string): void {
    this.#isAnnounced = true
    this.#port.postMessage({ kind: 'log', lines })
  }
}
