// Hears one worker: what concerns its life goes to the supervisor, the rest to who is above it.
import { deserializeError, type ErrorClasses } from '../../shared/errors/serialize-error.js'
import type { Handler } from '../../shared/messages/handler.js'
import type { Bell, ToHost } from '../../shared/messages/messages.js'
import type { LinkListener } from '../backend/backend.js'
import { LastWords } from './last-words.js'
import type { SupervisorListener } from './supervisor-listener.js'
import type { WorkerHandle } from './worker-handle.js'

export interface WorkerListenerParts {
  preload: Handler | null
  errorClasses: ErrorClasses
  listener: SupervisorListener
  onReady: (worker: WorkerHandle) => void
  /** It takes no more. */
  onLeaving: (worker: WorkerHandle) => void
  /** It has grown too large. */
  onHeavy: (worker: WorkerHandle) => void
  onTeardownFound: (worker: WorkerHandle) => void
  onTeardownFailed: (worker: WorkerHandle, error: unknown) => void
  onExit: (worker: WorkerHandle, lastWords: LastWords) => void
}

export class WorkerListener implements LinkListener {
  readonly #worker: WorkerHandle
  readonly #parts: WorkerListenerParts
  readonly #lastWords: LastWords

  constructor(worker: WorkerHandle, parts: WorkerListenerParts) {
    this.#worker = worker
    this.#parts = parts
    this.#lastWords = new LastWords(worker.id, parts.preload, parts.errorClasses)
  }

  onMessage(message: ToHost): void {
    const worker = this.#worker
    // Who rings the host's bell rings it for all workers, to its own end.
    if (message === 'bell') return this.#parts.listener.onMessage(worker, message)
    if (worker.state === 'draining' && !countsToTheEnd(message)) return
    switch (message.kind) {
      case 'ready':
        return this.#parts.onReady(worker)
      case 'startFailed':
        return this.#lastWords.onStartFailed(message.error)
      case 'leaving':
        return this.#parts.onLeaving(worker)
      case 'heavy':
        return this.#parts.onHeavy(worker)
      case 'hasTeardown':
        worker.hasTeardown = true
        return this.#parts.onTeardownFound(worker)
      case 'teardownFailed':
        return this.#parts.onTeardownFailed(worker, deserializeError(message.error, this.#parts.errorClasses))
      case 'crashed':
        return this.#lastWords.onCrashed(message.error)
      default:
        return this.#parts.listener.onMessage(worker, message)
    }
  }

  onUnreadable(): void {
    if (this.#worker.state !== 'draining') this.#parts.listener.onUnreadable(this.#worker)
  }

  onUserMessage(value: unknown): void {
    this.#parts.listener.onUserMessage(this.#worker, value)
  }

  onExit(exitCode: number, error: unknown, signal: NodeJS.Signals | null = null): void {
    this.#lastWords.onExit(exitCode, error, signal)
    this.#parts.onExit(this.#worker, this.#lastWords)
  }
}

/** An answer given is an answer. */
function countsToTheEnd({ kind }: Exclude<ToHost, Bell>): boolean {
  return kind === 'done' || kind === 'failed' || kind === 'hasTeardown' || kind === 'teardownFailed'
}
