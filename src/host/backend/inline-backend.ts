// Workers on the host's own thread, for debugging, tests and tiny work. They use the same messages and copies as threads.
// They cannot be killed. A worker that the host ends keeps its place until its handlers have ended, and the next worker waits.

import { kindOf, type StartOrder, type ToWorker } from '../../shared/messages/messages.js'
import type { TransferItem } from '../../shared/messages/move.js'
import { withoutCaller } from '../../shared/platform/async-context.js'
import { threadId } from '../../shared/platform/host-node-modules.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { Backend, LinkListener, WorkerLink, WorkerSpec } from './backend.js'
import { inlineEntryUrl } from './entry-url.js'
import { LinkPort } from './link-port.js'
import { packageFile, startFailureCause } from './missing-package-file.js'

/** The host loads the entry by URL, so its type is declared here. */
interface InlineWorker {
  end(onQuiet: () => void): void
}
interface InlineEntry {
  serveInline(order: StartOrder, onEnd: () => void): InlineWorker
}

export class InlineBackend implements Backend {
  readonly #size: { readonly maxWorkers: number }
  readonly #waiting = new Set<InlineLink>()
  #alive = 0
  /** Workers that have ended for the pool while their handlers run on. */
  #lingering = 0

  /** @param size at most `maxWorkers` run at once while handlers of ended workers run on */
  constructor(size: { readonly maxWorkers: number }) {
    this.#size = size
  }

  start(spec: WorkerSpec, listener: LinkListener): WorkerLink {
    const link = new InlineLink(spec, listener, this)
    this.#waiting.add(link)
    this.#beginWaiting()
    return link
  }

  /** The worker has ended. Its handlers may run on. */
  onEnd(link: InlineLink): void {
    if (this.#waiting.delete(link)) return
    this.#alive--
    this.#lingering++
  }

  /** The handlers of an ended worker have ended too. */
  onQuiet(): void {
    this.#lingering--
    this.#beginWaiting()
  }

  /** Begins waiting workers while there are places. The pool does not know of lingering workers. */
  #beginWaiting(): void {
    for (const link of this.#waiting) {
      if (this.#lingering > 0 && this.#alive + this.#lingering >= this.#size.maxWorkers) return
      this.#waiting.delete(link)
      this.#alive++
      // The caller may be in a user's async context: it cancelled the handler that held the place.
      withoutCaller(() => void link.begin())
    }
  }
}

class InlineLink implements WorkerLink {
  readonly kind = 'inline'
  readonly thread = null
  readonly process = null
  readonly #spec: WorkerSpec
  readonly #listener: LinkListener
  readonly #backend: InlineBackend
  readonly #port: LinkPort
  #worker: InlineWorker | null = null
  #isLingering = false
  #isOver = false

  constructor(spec: WorkerSpec, listener: LinkListener, backend: InlineBackend) {
    this.#spec = spec
    this.#listener = listener
    this.#backend = backend
    this.#port = new LinkPort(listener)
  }

  get threadId(): number {
    return this.#isOver ? -1 : threadId
  }

  async begin(): Promise<void> {
    const { lane, preload, limits } = this.#spec
    const order: StartOrder = {
      port: this.#port.workerPort,
      lane,
      preload,
      // It shares the host's priority and memory.
      niceIncrement: 0,
      limits: limits === null ? null : { ...limits, bytes: Number.POSITIVE_INFINITY },
      // Its CPU time cannot be told from the host's.
      measures: false,
    }
    try {
      const entry: InlineEntry = await loadEntry(packageFile(inlineEntryUrl))
      if (this.#isOver) this.#backend.onQuiet()
      else this.#worker = entry.serveInline(order, () => this.#onEnd(0))
    } catch (failure) {
      // The failure may come before the caller of start() has the link.
      await null
      this.#onEnd(1, startFailureCause(inlineEntryUrl, failure))
      this.#backend.onQuiet()
    }
  }

  post(message: ToWorker, transferList?: readonly TransferItem[]): void {
    if (kindOf(message) === 'stop') return this.terminate()
    this.#port.post(message, transferList)
  }

  terminate(): void {
    this.#startLingering()
    inMicrotask(() => this.#onEnd(1))
  }

  /** The worker has ended for the pool. Its place is free when its handlers have ended. */
  #onEnd(exitCode: number, error?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#port.close()
    // A port without a listener does not notice that the other end is closed.
    if (this.#worker === null) this.#port.workerPort.close()
    this.#startLingering()
    // The listeners of the handlers' signals must not run in the caller's context.
    withoutCaller(() => this.#worker?.end(() => this.#backend.onQuiet()))
    this.#listener.onExit(exitCode, error)
  }

  /** Called at once, since the pool may start the next worker at once. */
  #startLingering(): void {
    if (this.#isLingering) return
    this.#isLingering = true
    this.#backend.onEnd(this)
  }
}

/** A `vm` context, as in Jest, has no `import()`, and bundlers replace it. Then Node's own is used. */
async function loadEntry({ href }: URL): Promise<InlineEntry> {
  try {
    return await import(href)
  } catch {
    const { constants, runInThisContext } = getBuiltinModule('node:vm')
    const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    return runInThisContext('href => import(href)', { importModuleDynamically })(href)
  }
}
