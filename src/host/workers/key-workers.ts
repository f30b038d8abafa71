// Remembers which worker ran the last task of each key. That worker may have caches for the key.
import type { Worker } from './worker.js'
import type { WorkerGroup } from './worker-group.js'

/** How many keys are remembered at least. At most twice as many are. */
const KEPT_KEYS = 10_000

export class KeyWorkers {
  readonly #group: WorkerGroup
  /** By key: the id of a worker. The keys that were used since the other map was full. */
  #recent = new Map<string, number>()
  #older = new Map<string, number>()
  /** The next worker in the list is tried first, so that the keys of an idle pool spread over its workers. */
  #next = 0

  constructor(group: WorkerGroup) {
    this.#group = group
  }

  /** Call it when the worker gets or has run a task of the key. */
  bind(key: string, workerId: number): void {
    if (this.#recent.size >= KEPT_KEYS && !this.#recent.has(key)) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(key, workerId)
  }

  /** The worker that ran the key last. `null` when it accepts no more tasks, or is not known. */
  of(key: string): Worker | null {
    const recent = this.#recent.get(key)
    const workerId = recent ?? this.#older.get(key)
    if (workerId === undefined) return null
    const worker = this.#group.withId(workerId)
    if (worker === null || !acceptsTasks(worker)) return null
    if (recent === undefined) this.bind(key, workerId)
    return worker
  }

  forget(key: string): void {
    this.#recent.delete(key)
    this.#older.delete(key)
  }

  /** Binds the key to the worker with the fewest tasks. `null` when no worker is ready. */
  choose(key: string): Worker | null {
    const { workers } = this.#group
    let best: Worker | null = null
    let bestLoad = Number.POSITIVE_INFINITY
    const first = this.#next++
    for (let index = 0; index < workers.length && bestLoad > 0; index++) {
      const worker = workers[(first + index) % workers.length]!
      if (!acceptsTasks(worker)) continue
      const load = worker.claimed + worker.tasks.inbox!.size
      if (load >= bestLoad) continue
      best = worker
      bestLoad = load
    }
    if (best !== null) this.bind(key, best.id)
    return best
  }
}

function acceptsTasks(worker: Worker): boolean {
  return worker.isReady && !worker.isLeaving && !worker.hasReachedTaskLimit
}
