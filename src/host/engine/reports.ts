// The events that a pool emits. Holds the pool only while it is busy, because running threads hold this object.
import type { PoolEvents } from '../../api/events.js'
import { WorkerExitError } from '../../shared/errors/pool-errors.js'
import { lastingContext } from '../../shared/platform/async-context.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import { inspect } from '../../shared/platform/node-modules.js'
import { passOnReport } from '../../shared/platform/watch-mode.js'
import type { WorkerOutput } from '../workers/output.js'
import type { Death, Worker, WorkerEvents } from '../workers/worker.js'
import type { BackPressureListener } from './back-pressure.js'
import type { PoolRef } from './pool-ref.js'
import type { Stats } from './stats.js'

/** The part of an event emitter that the reports use. */
export interface PoolEmitter {
  emit(name: string, ...args: unknown[]): boolean
  listenerCount(name: string): number
}

export class Reports implements WorkerEvents, BackPressureListener {
  readonly #pool: PoolRef<PoolEmitter>
  readonly #label: string
  readonly #output: WorkerOutput | null
  /** Listeners run in this async context. */
  readonly #context = lastingContext('lido.Pool')
  /** Set once, before the first worker is started. */
  stats!: Stats

  constructor(pool: PoolRef<PoolEmitter>, label: string, output: WorkerOutput | null) {
    this.#pool = pool
    this.#label = label
    this.#output = output
  }

  onNeedsDrain(): void {
    this.#emit('needsDrain')
  }

  onDrain(): void {
    this.#emit('drain')
  }

  onClosed(): void {
    this.#emit('close')
  }

  /** An error that no caller receives. */
  onError(error: unknown): void {
    this.#emitError(error, () => {})
  }

  onUnreportedDeath(worker: Worker, death: Death): void {
    this.#emitError(death.error, () => writeDeath(this.#label, worker, death))
  }

  onUserMessage({ view }: Worker, value: unknown): void {
    if (!passOnReport(value)) this.#emit('message', value, view)
  }

  onCreated({ view }: Worker): void {
    this.#output?.add(view)
    this.#emit('workerCreate', view)
  }

  onDestroyed({ view }: Worker): void {
    this.stats.onWorkerEnded(view)
    this.#emit('workerDestroy', view)
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
