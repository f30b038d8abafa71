// A program with a balancer of its own was told which worker runs an abortable task. When the task is aborted, Piscina
// ends that worker even where the task had not begun and lido would keep it; such programs count on seeing it go.
import type { WorkerView } from '../../index.js'

interface Watch {
  count: number
  onAbort: () => void
}

export class HolderEnds {
  readonly #workers: () => WorkerView[]
  readonly #watches = new Map<AbortSignal, Watch>()

  constructor(workers: () => WorkerView[]) {
    this.#workers = workers
  }

  /** To be called before the task is handed to the pool: the holder is known until the pool hears of the abort. */
  watch(signal: AbortSignal): void {
    const known = this.#watches.get(signal)
    if (known !== undefined) {
      known.count++
      return
    }
    const watch: Watch = { count: 1, onAbort: () => this.#onAbort(signal) }
    this.#watches.set(signal, watch)
    signal.addEventListener('abort', watch.onAbort)
  }

  release(signal: AbortSignal): void {
    const watch = this.#watches.get(signal)
    if (watch === undefined || --watch.count > 0) return
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
