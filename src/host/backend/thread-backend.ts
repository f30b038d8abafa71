// Runs workers as threads of this process. Each has a message port for the pool's messages. The parent port belongs to
// the user.
import type { Worker } from 'node:worker_threads'
import type { TransferItem } from '../../api/call-options.js'
import type { StartOrder, ToWorker } from '../../shared/messages/messages.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { Backend, LinkListener, WorkerLink, WorkerSpec } from './backend.js'
import { threadEntryUrl } from './entry-url.js'
import { LinkPort } from './link-port.js'
import { inheritedFlags } from './process-surroundings.js'
import { embeddedCode, moduleFlags, packageFile, startFailureCause } from './worker-code.js'

/** Loaded here and not in `host-node-modules`, because only a backend may start threads. */
const { Worker: Thread } = getBuiltinModule('node:worker_threads')

export class ThreadBackend implements Backend {
  #early: Worker | null = null

  /**
   * Starts a thread while the pool is built. The next `start` uses it; the caller passes the same options there. If no `start` follows
   * before the next microtask, the thread is terminated. Throws what `start` throws.
   */
  startAhead(workerOptions: Record<string, unknown>): void {
    const thread = startThread(workerOptions)
    this.#early = thread
    // Without a listener, its error would end the program. Nobody needs the error of a thread that no pool uses.
    thread.on('error', () => {})
    inMicrotask(() => {
      if (this.#early === thread) void this.#takeEarly()!.terminate()
    })
  }

  start(spec: WorkerSpec, listener: LinkListener): WorkerLink {
    return new ThreadLink(this.#takeEarly() ?? startThread(spec.workerOptions), spec, listener)
  }

  #takeEarly(): Worker | null {
    const early = this.#early
    this.#early = null
    return early
  }
}

/** A flag of the whole program that a thread cannot have does not prevent the start, unless the program gave it to the pool. */
function startThread(workerOptions: Record<string, unknown>): Worker {
  const code = embeddedCode('thread')
  const first = code ?? packageFile(threadEntryUrl)
  const options = code === null ? workerOptions : asModule(workerOptions)
  try {
    return new Thread(first, options)
  } catch (failure) {
    const { code, message } = (failure ?? {}) as NodeJS.ErrnoException
    if (workerOptions.inheritsFlags !== true || code !== 'ERR_WORKER_INVALID_EXEC_ARGV') throw failure
    return new Thread(first, withoutFlags(options, message))
  }
}

/** For a thread that starts from the text of a module. */
function asModule(workerOptions: Record<string, unknown>): Record<string, unknown> {
  const flags = (workerOptions.execArgv as string[] | undefined) ?? inheritedFlags(process.execArgv)
  const execArgv = [...flags, ...moduleFlags]
  return Object.assign(Object.create(null), workerOptions, { eval: true, execArgv })
}

/** @param refusal the message of Node, which lists the flags that it refuses */
function withoutFlags(workerOptions: Record<string, unknown>, refusal: string): Record<string, unknown> {
  const { env, execArgv } = workerOptions
  const refused = new Set(refusal.match(/(?<=^|[\s,])--?[\w-]+/g))
  const isAccepted = (word: string) => !refused.has(word.split('=', 1)[0]!)
  const { NODE_OPTIONS, ...variables } = env as NodeJS.ProcessEnv
  const options = NODE_OPTIONS?.split(' ').filter(isAccepted).join(' ')
  return Object.assign(Object.create(null), workerOptions, {
    env: options ? { ...variables, NODE_OPTIONS: options } : variables,
    ...(Array.isArray(execArgv) && { execArgv: execArgv.filter(isAccepted) }),
  })
}

/**
 * Node pipes the output of each thread to the output of the program, and would warn of a leak when more than ten threads wait for a
 * slow reader.
 */
function allowListeners(more: number): void {
  for (const stream of [process.stdout, process.stderr]) {
    const most = stream.getMaxListeners()
    // 0: no limit.
    if (most > 0) stream.setMaxListeners(most + more)
  }
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
      this.#error = isMissing ? startFailureCause(threadEntryUrl, error) : error
    })
    this.thread.on('exit', exitCode => this.#onExit(exitCode))
    allowListeners(1)
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
    allowListeners(-1)
    this.#listener.onExit(exitCode, this.#error)
  }
}
