// Workers as threads of this process. Each has a message port for the pool's messages. The parent port is left to the user.
import type { Worker } from 'node:worker_threads'
import type { StartOrder, ToWorker } from '../../shared/messages/messages.js'
import type { TransferItem } from '../../shared/messages/move.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { Backend, LinkListener, WorkerLink, WorkerSpec } from './backend.js'
import { workerEntryUrl } from './entry-url.js'
import { LinkPort } from './link-port.js'
import { packageFile, startFailureCause } from './missing-package-file.js'

/** Only a backend may start threads, so this class is not among the host's shared modules. */
const { Worker: Thread } = getBuiltinModule('node:worker_threads')

export class ThreadBackend implements Backend {
  #ahead: Worker | null = null

  startAhead(workerOptions: Record<string, unknown>): void {
    const thread = startThread(workerOptions)
    this.#ahead = thread
    inMicrotask(() => {
      if (this.#ahead === thread) void this.#takeAhead()!.terminate()
    })
  }

  start(spec: WorkerSpec, listener: LinkListener): WorkerLink {
    return new ThreadLink(this.#takeAhead() ?? startThread(spec.workerOptions), spec, listener)
  }

  #takeAhead(): Worker | null {
    const ahead = this.#ahead
    this.#ahead = null
    return ahead
  }
}

function startThread(workerOptions: Record<string, unknown>): Worker {
  return new Thread(packageFile(workerEntryUrl), workerOptions)
}

class ThreadLink implements WorkerLink {
  readonly kind = 'thread'
  readonly process = null
  readonly thread: Worker
  readonly #port: LinkPort
  readonly #listener: LinkListener
  #error: unknown

  constructor(thread: Worker, spec: WorkerSpec, listener: LinkListener) {
    this.#listener = listener
    this.thread = thread
    this.#port = new LinkPort(listener)
    const { workerOptions: _, ...rest } = spec
    const order: StartOrder = { ...rest, port: this.#port.workerPort }
    this.thread.postMessage(order, [order.port])
    this.thread.on('message', (value: unknown) => listener.onUserMessage(value))
    this.thread.on('error', (error: unknown) => {
      const isMissing = (error as NodeJS.ErrnoException | null)?.code === 'MODULE_NOT_FOUND'
      this.#error = isMissing ? startFailureCause(workerEntryUrl, error) : error
    })
    this.thread.on('exit', exitCode => this.#onExit(exitCode))
    this.thread.unref()
  }

  get threadId(): number {
    return this.thread.threadId
  }

  post(message: ToWorker, transferList?: readonly TransferItem[]): void {
    this.#port.post(message, transferList)
  }

  terminate(): void {
    void this.thread.terminate()
  }

  #onExit(exitCode: number): void {
    this.#port.close()
    this.#listener.onExit(exitCode, this.#error)
  }
}
