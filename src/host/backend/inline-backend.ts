// Workers on the host's own thread, for debugging, tests and tiny work: the same port, the same copies, no other thread.
// Nothing can kill them, so one that is given up keeps its seat until its handlers have ended, and who comes next waits.

import { kindOf } from '../../shared/messages/kind-of.js'
import type { StartOrder, ToWorker } from '../../shared/messages/messages.js'
import type { TransferItem } from '../../shared/messages/move.js'
import { withoutCaller } from '../../shared/platform/async-context.js'
import { threadId } from '../../shared/platform/host-node-modules.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { Backend, LinkListener, WorkerLink, WorkerSpec } from './backend.js'
import { inlineEntryUrl } from './entry-url.js'
import { LinkPort } from './link-port.js'
import { packageFile, startFailureCause } from './missing-package-file.js'

/** The entry's own type is the worker's; the host reaches it by URL. */
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
  /** Workers that have ended for the pool, and run on. */
  #lingering = 0

  /** @param size `maxWorkers` may run at once while one that was given up still runs */
  constructor(size: { readonly maxWorkers: number }) {
    this.#size = size
  }

  start(spec: WorkerSpec, listener: LinkListener): WorkerLink {
    const link = new InlineLink(spec, listener, this)
    this.#waiting.add(link)
    this.#seat()
    return link
  }

  /** The worker has ended, and what it runs has not. */
  onEnd(link: InlineLink): void {
    if (this.#waiting.delete(link)) return
    this.#alive--
    this.#lingering++
  }

  /** So has all that it ran. */
  onQuiet(): void {
    this.#lingering--
    this.#seat()
  }

  /** The pool itself never has more workers than it may; it knows nothing of those that linger. */
  #seat(): void {
    for (const link of this.#waiting) {
      if (this.#lingering > 0 && this.#alive + this.#lingering >= this.#size.maxWorkers) return
      this.#waiting.delete(link)
      this.#alive++
      // Who cancels what still ran may have freed the seat.
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
    const { road, preload, limits } = this.#spec
    const order: StartOrder = {
      port: this.#port.workerPort,
      road,
      preload,
      // Its priority and its memory are the host's.
      niceIncrement: 0,
      limits: limits === null ? null : { ...limits, bytes: Number.POSITIVE_INFINITY },
      // Its time on a core is that of all else here.
      measures: false,
      // This thread knows of them.
      above: null,
    }
    try {
      const entry: InlineEntry = await loadEntry(packageFile(inlineEntryUrl))
      if (this.#isOver) this.#backend.onQuiet()
      else this.#worker = entry.serveInline(order, () => this.#onEnd(0))
    } catch (failure) {
      // It may have failed at once, before who starts it has the link.
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
    this.#lingers()
    inMicrotask(() => this.#onEnd(1))
  }

  /** For the pool it has ended; its seat is free when what it runs has ended too. */
  #onEnd(exitCode: number, error?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#port.close()
    // A port that nobody has listened at does not hear that the other one is closed.
    if (this.#worker === null) this.#port.workerPort.close()
    this.#lingers()
    // What runs on is told: its listeners are no caller's.
    withoutCaller(() => this.#worker?.end(() => this.#backend.onQuiet()))
    this.#listener.onExit(exitCode, error)
  }

  /** At once, since the pool may start another at once. */
  #lingers(): void {
    if (this.#isLingering) return
    this.#isLingering = true
    this.#backend.onEnd(this)
  }
}

/** A `vm` context, as Jest makes them, has no `import()`, and bundlers put theirs in its place: Node's own is outside. */
async function loadEntry({ href }: URL): Promise<InlineEntry> {
  try {
    return await import(href)
  } catch {
    const { constants, runInThisContext } = getBuiltinModule('node:vm')
    const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    return runInThisContext('href => import(href)', { importModuleDynamically })(href)
  }
}
