// Terminates the worker of an aborted task, for programs with their own load balancer. Such programs expect it, because
// Piscina terminates the worker even if the task has not started. Without this file lido would keep the worker.
import type { WorkerView } from '../../index.js'

interface Watch {
  tasks: number
  onAbort: () => void
}

export class TerminateOnAbort {
  readonly #workers: () => WorkerView[]
  readonly #watches = new Map<AbortSignal, Watch>()

  constructor(workers: () => WorkerView[]) {
    this.#workers = workers
  }

  /** Call it before `pool.run()`: this listener must run while the pool still shows which worker has the task. */
  watch(signal: AbortSignal): void {
    const known = this.#watches.get(signal)
    if (known !== undefined) {
      known.tasks++
      return
    }
    const watch: Watch = { tasks: 1, onAbort: () => this.#onAbort(signal) }
    this.#watches.set(signal, watch)
    signal.addEventListener('abort', watch.onAbort)
  }

  /** Call it when the task has settled. */
  release(signal: AbortSignal): void {
    const watch = this.#watches.get(signal)
    if (watch === undefined || --watch.tasks > 0) return
    this.#watches.delete(signal)
    signal.removeEventListener('abort', watch.onAbort)
  }

  #onAbort(signal: AbortSignal): void {
    const holders = this.#workers().filter(worker => worker.tasks.some(task => task.signal === signal))
    queueMicrotask(() => {
      for (const holder of holders) if (holder.isIdle) void holder.terminate()
    })
  }
}
