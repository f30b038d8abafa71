// Gives the lines that loggers in workers write to the logger of the host, and tells the workers its level.
import type { LogReceiver } from '../../api/log-receiver.js'

/** A worker, as far as its lines concern. */
interface LoggingWorker {
  readonly state: string
  readonly link: { post(message: { kind: 'log-level'; level: number }): void }
}

/** Without a logger of the host, lines go to its output as they are. */
const toOutput: LogReceiver = {
  level: 30,
  write: (level, line) => void (level >= 30 && process.stdout.write(`${line}\n`)),
}

export class WorkerLogs {
  readonly #onError: (error: unknown) => void
  /** Workers that have a logger, with the level that the host told them last. */
  readonly #workers = new Map<LoggingWorker, number>()
  #receiver = toOutput

  /** @param onError called with what the receiver throws */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** @returns call it when the level of the receiver has changed */
  receive(receiver: LogReceiver): () => void {
    this.#receiver = receiver
    const tellAll = () => {
      if (this.#receiver === receiver) for (const worker of this.#workers.keys()) this.#tell(worker)
    }
    tellAll()
    return tellAll
  }

  /** The worker has a logger. */
  add(worker: LoggingWorker): void {
    this.#tell(worker)
  }

  /** Gives lines, as a `log` message has them, to the receiver. */
  write(lines: string): void {
    const receiver = this.#receiver
    for (const framed of lines.slice(0, -1).split('\n')) {
      const space = framed.indexOf(' ')
      try {
        receiver.write(Number(framed.slice(0, space)), framed.slice(space + 1))
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  remove(worker: LoggingWorker): void {
    this.#workers.delete(worker)
  }

  #tell(worker: LoggingWorker): void {
    const { level } = this.#receiver
    const isEnding = worker.state === 'draining' || worker.state === 'exited'
    if (isEnding || this.#workers.get(worker) === level) return
    this.#workers.set(worker, level)
    worker.link.post({ kind: 'log-level', level })
  }
}
