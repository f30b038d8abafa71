// Runs workers on the host's own thread, for debugging, tests and tiny tasks. They use the same messages and copies as
// threads. The host cannot kill such a worker. A stopped worker keeps its place until its handlers have ended. Only
// then does the next worker start.

import type { TransferItem } from '../../api/call-options.js'
import { kindOf, type StartOrder, type ToWorker } from '../../shared/messages/messages.js'
import { withoutCaller } from '../../shared/platform/async-context.js'
import { threadId } from '../../shared/platform/host-node-modules.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import { getBuiltinModule, structuredClone } from '../../shared/platform/node-modules.js'
import type { Backend, LinkListener, WorkerLink, WorkerSpec } from './backend.js'
import { inlineEntryUrl } from './entry-url.js'
import { LinkPort } from './link-port.js'
import { embeddedInline, packageFile, startFailureCause } from './worker-code.js'

/** The host loads the entry by URL, so this file declares its types. */
interface InlineWorker {
  end(onQuiet: () => void): void
}
type ModuleLoad = () => object | Promise<object>
interface InlineEntry {
  serveInline(order: StartOrder, loadModule: ModuleLoad | null, onEnd: () => void): InlineWorker
}

export class InlineBackend implements Backend {
  /** Returns the pool's option `module`. `null`: not given. */
  readonly loadModule: ModuleLoad | null
  readonly #size: { readonly maxWorkers: number }
  readonly #waiting = new Set<InlineLink>()
  #alive = 0
  /** Workers that have ended for the pool, but whose handlers still run. */
  #lingering = 0

  /** @param size while handlers of ended workers run on, at most `maxWorkers` workers run */
  constructor(size: { readonly maxWorkers: number }, loadModule: ModuleLoad | null = null) {
    this.#size = size
    this.loadModule = loadModule
  }

  start(spec: WorkerSpec, listener: LinkListener): WorkerLink {
    const link = new InlineLink(spec, listener, this)
    this.#waiting.add(link)
    this.#startWaiting()
    return link
  }

  /** The worker has ended for the pool. Its handlers may run on. */
  onEnd(link: InlineLink): void {
    if (this.#waiting.delete(link)) return
    this.#alive--
    this.#lingering++
  }

  /** The handlers of an ended worker have ended as well. */
  onQuiet(): void {
    this.#lingering--
    this.#startWaiting()
  }

  /** Starts waiting workers while places are free. The pool does not count lingering workers, so this class does. */
  #startWaiting(): void {
    for (const link of this.#waiting) {
      if (this.#lingering > 0 && this.#alive + this.#lingering >= this.#size.maxWorkers) return
      this.#waiting.delete(link)
      this.#alive++
      // The caller may run in the async context of the user who cancelled the handler.
      withoutCaller(() => void link.start())
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
  #hasEnded = false

  constructor(spec: WorkerSpec, listener: LinkListener, backend: InlineBackend) {
    this.#spec = spec
    this.#listener = listener
    this.#backend = backend
    this.#port = new LinkPort(listener)
  }

  get threadId(): number {
    return this.#hasEnded ? -1 : threadId
  }

  async start(): Promise<void> {
    const { lane, preload, preloadId, startCalls, limits, setupTimeoutMs, origin } = this.#spec
    const order: StartOrder = {
      port: this.#port.workerPort,
      lane,
      preload,
      preloadId,
      loading: [],
      startCalls: structuredClone(startCalls),
      // The worker shares the priority and the memory of the host.
      niceIncrement: 0,
      setupTimeoutMs,
      limits: limits === null ? null : { ...limits, bytes: Number.POSITIVE_INFINITY },
      // The CPU time of the worker is part of the host's CPU time.
      measures: false,
      origin,
    }
    try {
      const entry = (embeddedInline() ?? (await loadEntry(packageFile(inlineEntryUrl)))) as InlineEntry
      if (this.#hasEnded) this.#backend.onQuiet()
      else this.#worker = entry.serveInline(order, this.#backend.loadModule, () => this.#onEnd(0))
    } catch (failure) {
      // Wait a microtask: the failure may come before the backend's start() has returned the link.
      await null
      this.#onEnd(1, startFailureCause(inlineEntryUrl, failure))
      this.#backend.onQuiet()
    }
  }

  post(message: ToWorker, transferList?: readonly TransferItem[]): void {
    if (kindOf(message) === 'exit') return this.terminate()
    this.#port.post(message, transferList)
  }

  terminate(): void {
    this.#startLingering()
    inMicrotask(() => this.#onEnd(1))
  }

  /** Ends the worker for the pool. The place becomes free when the handlers have ended. */
  #onEnd(exitCode: number, error?: unknown): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#port.close()
    // A port without a listener does not notice that the other port is closed.
    if (this.#worker === null) this.#port.workerPort.close()
    this.#startLingering()
    // The listeners of the handlers' signals must not run in the caller's async context.
    withoutCaller(() => this.#worker?.end(() => this.#backend.onQuiet()))
    this.#listener.onExit(exitCode, error)
  }

  /** Called synchronously by `terminate()`, because the pool may start the next worker at once. */
  #startLingering(): void {
    if (this.#isLingering) return
    this.#isLingering = true
    this.#backend.onEnd(this)
  }
}

/** A `vm` context, as in Jest, has no `import()`, and some bundlers replace it. Then this uses the `import()` of Node. */
async function loadEntry({ href }: URL): Promise<InlineEntry> {
  try {
    return await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ href)
  } catch {
    const { constants, runInThisContext } = getBuiltinModule('node:vm')
    const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    return runInThisContext('href => import(href)', { importModuleDynamically })(href)
  }
}
