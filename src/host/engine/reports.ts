// The events that a pool emits, and those of its workers that it publishes in channels. Holds the pool only while it is busy, because running threads hold this object.
import type { PoolIdentity, PoolMessage, WorkerMessage } from '../../api/channels.js'
import type { PoolEvents } from '../../api/events.js'
import { WorkerExitError } from '../../shared/errors/pool-errors.js'
import { lastingContext } from '../../shared/platform/async-context.js'
import { NoticeChannel } from '../../shared/platform/channels.js'
import { globalSymbol } from '../../shared/platform/global-symbol.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import { inspect } from '../../shared/platform/node-modules.js'
import { passOnReport } from '../../shared/platform/watch-mode.js'
import type { WorkerOutput } from '../workers/output.js'
import type { Death, Worker, WorkerEvents } from '../workers/worker.js'
import type { BackPressureListener } from './back-pressure.js'
import type { PoolRef } from './pool-ref.js'
import type { Stats } from './stats.js'
import { WorkerLogs } from './worker-logs.js'

/** The part of an event emitter that the reports use. */
export interface PoolEmitter {
  emit(name: string, ...args: unknown[]): boolean
  listenerCount(name: string): number
}

const openChannel = new NoticeChannel<PoolMessage>('lido.pool.open')
const closeChannel = new NoticeChannel<PoolMessage>('lido.pool.close')
const startChannel = new NoticeChannel<WorkerMessage>('lido.worker.start')
const exitChannel = new NoticeChannel<WorkerMessage>('lido.worker.exit')

const countKey = globalSymbol('poolCount')

/** Counts the pools of all copies of this package in this thread. */
export function nextPoolId(): number {
  const globals = globalThis as unknown as Record<symbol, number | undefined>
  const id = (globals[countKey] ?? 0) + 1
  globals[countKey] = id
  return id
}

export class Reports implements WorkerEvents, BackPressureListener {
  readonly logs = new WorkerLogs(error => this.onError(error))
  readonly #pool: PoolRef<PoolEmitter>
  readonly #identity: PoolIdentity
  readonly #output: WorkerOutput | null
  /** Listeners run in this async context. */
  readonly #context = lastingContext('lido.Pool')
  /** Set once, before the first worker is started. */
  stats!: Stats

  constructor(pool: PoolRef<PoolEmitter>, identity: PoolIdentity, output: WorkerOutput | null) {
    this.#pool = pool
    this.#identity = identity
    this.#output = output
  }

  onNeedsDrain(): void {
    this.#emit('needsDrain')
  }

  onDrain(): void {
    this.#emit('drain')
  }

  onOpened(): void {
    this.#pool.tell(pool => openChannel.publish(() => ({ ...this.#identity, pool })))
  }

  onClosed(): void {
    this.#pool.tell(pool => inMicrotask(() => closeChannel.publish(() => ({ ...this.#identity, pool }))))
    this.#emit('close')
  }

  /** An error that no caller receives. */
  onError(error: unknown): void {
    this.#emitError(error, () => {})
  }

  onUnreportedDeath(worker: Worker, death: Death): void {
    this.#emitError(death.error, () => writeDeath(this.#identity.label, worker, death))
  }

  onUserMessage({ view }: Worker, value: unknown): void {
    if (!passOnReport(value)) this.#emit('message', value, view)
  }

  onLog(worker: Worker, lines: string): void {
    this.logs.add(worker)
    // After the pool's own work, because a logger may call the pool. A promise that is resolved later continues later.
    if (lines !== '') inMicrotask(() => this.#context.run(() => this.logs.write(lines)))
  }

  onCreated(worker: Worker): void {
    const { view } = worker
    this.#output?.add(view)
    this.#emit('workerCreate', view)
    // The pool announces itself first.
    inMicrotask(() => startChannel.publish(() => this.#messageOf(worker)))
  }

  onDestroyed(worker: Worker): void {
    this.logs.remove(worker)
    this.stats.onWorkerEnded(worker)
    this.#emit('workerDestroy', worker.view)
  }

  onExited(worker: Worker): void {
    const { stopReason } = worker
    inMicrotask(() => exitChannel.publish(() => ({ ...this.#messageOf(worker), reason: stopReason! })))
  }

  #messageOf({ id, threadId, link }: Worker): WorkerMessage {
    const pid = link.process?.pid ?? process.pid
    return { pool: this.#identity, workerId: id, threadId, pid, backend: link.kind }
  }

  /** Emits the event after the pool's own work, so that a listener may call the pool. */
  #emit<Name extends keyof PoolEvents>(name: Name, ...args: PoolEvents[Name]): void {
    this.#pool.tell(pool => inMicrotask(() => this.#context.run(() => pool.emit(name, ...args))))
  }

  #emitError(error: unknown, onNoListener: () => void): void {
    this.#pool.tell(pool =>
      inMicrotask(() => {
        if (pool.listenerCount('error') > 0) this.#context.run(() => pool.emit('error', error))
        else onNoListener()
      }),
    )
  }
}

/** Writes to stderr. In a process Node has already written the exception, so the report only names the worker. */
function writeDeath(label: string, { id, view }: Worker, { wasReady, error }: Death): void {
  // `process.exit()` is no exception. A failed start rejects the next call.
  if (!wasReady || error instanceof WorkerExitError) return
  const isWrittenByNode = view.backend === 'process' && error instanceof Error
  const exception = isWrittenByNode ? '' : `${inspect(error)}\n`
  process.stderr.write(
    `${label} worker ${id} ended because of an uncaught exception while it had no task. ` +
      `Add a listener for the pool's 'error' event to handle it.\n${exception}`,
  )
}
