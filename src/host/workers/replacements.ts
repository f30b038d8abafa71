// Workers that are to be replaced, one after another: a new one is ready before the old one is asked to leave, and the next
// has its turn when the old one has ended. So the pool never has less than it had, and never more than one worker more.
import type { PoolError } from '../../shared/errors/pool-errors.js'
import type { WorkerHandle } from './worker-handle.js'

export interface ReplacementsParts {
  /** Starts a worker; throws why it cannot. */
  spawn(): WorkerHandle
  /** One worker more than `maxWorkers` would not be one too many. */
  mayAddOne(): boolean
  /** The worker takes no more, and ends when it is done. */
  leave(worker: WorkerHandle): void
  workers(): readonly WorkerHandle[]
}

interface Wait {
  readonly left: Set<WorkerHandle>
  readonly done: Promise<void>
  resolve(): void
  reject(reason: unknown): void
}

export class Replacements {
  readonly #parts: ReplacementsParts
  /** To be replaced, in the order in which that was asked for. */
  readonly #queue = new Set<WorkerHandle>()
  readonly #waits: Wait[] = []
  /** Whose turn it is: it stays until its replacement is ready. */
  #old: WorkerHandle | null = null
  #replacement: WorkerHandle | null = null
  #isStopped = false

  constructor(parts: ReplacementsParts) {
    this.#parts = parts
  }

  /** Replaces one worker. */
  request(worker: WorkerHandle): void {
    if (this.#isStopped || worker === this.#old || worker.isLeaving || worker.state === 'draining') return
    this.#queue.add(worker)
    this.#next()
  }

  /**
   * Replaces all workers that are alive now; resolves when they have ended.
   * @param mayJoin false: also those that were started for another who asks the same
   */
  all(mayJoin: boolean): Promise<void> {
    const last = this.#waits[this.#waits.length - 1]
    if (mayJoin && last !== undefined) return last.done
    const workers = this.#parts.workers()
    if (workers.length === 0) return Promise.resolve()
    const wait = makeWait(workers)
    this.#waits.push(wait)
    for (const worker of [...workers]) {
      // A start that fails at once fails them all.
      if (!this.#waits.includes(wait)) break
      this.request(worker)
    }
    return wait.done
  }

  onReady(worker: WorkerHandle): void {
    if (worker !== this.#replacement) return
    this.#replacement = null
    const old = this.#old
    if (old === null) this.#next()
    else if (old.state === 'exited' || old.state === 'draining') this.#turnIsOver()
    else this.#parts.leave(old)
  }

  /** @param startError why it did not even start, if so */
  onGone(worker: WorkerHandle, startError: PoolError | null): void {
    this.#queue.delete(worker)
    for (const wait of [...this.#waits]) {
      if (!wait.left.delete(worker) || wait.left.size > 0) continue
      this.#waits.splice(this.#waits.indexOf(wait), 1)
      wait.resolve()
    }
    if (worker === this.#replacement) {
      this.#replacement = null
      if (startError !== null) return this.#fail(startError)
      // It was given up for another reason: the old one has its turn again.
      if (this.#old !== null) this.#queue.add(this.#old)
      this.#turnIsOver()
    } else if (worker === this.#old && this.#replacement === null) this.#turnIsOver()
    else this.#next()
  }

  /** The pool ends: those who wait are told. */
  stop(error: PoolError): void {
    this.#isStopped = true
    this.#fail(error)
  }

  #turnIsOver(): void {
    this.#old = null
    this.#next()
  }

  #next(): void {
    if (this.#isStopped || this.#old !== null || this.#replacement !== null || this.#queue.size === 0) return
    if (!this.#parts.mayAddOne()) return
    const old = this.#choose()
    if (old === null) return
    this.#queue.delete(old)
    this.#old = old
    try {
      this.#replacement = this.#parts.spawn()
    } catch (failure) {
      this.#fail(failure)
    }
  }

  /** One that does nothing leaves soonest. Those that are leaving already need no replacing. */
  #choose(): WorkerHandle | null {
    let first: WorkerHandle | null = null
    for (const worker of this.#queue) {
      if (worker.isLeaving || worker.state === 'draining' || worker.state === 'exited') {
        this.#queue.delete(worker)
        continue
      }
      if (worker.isIdle) return worker
      first ??= worker
    }
    return first
  }

  /** The old ones stay. */
  #fail(reason: unknown): void {
    this.#old = null
    this.#queue.clear()
    for (const wait of this.#waits.splice(0)) wait.reject(reason)
  }
}

function makeWait(workers: readonly WorkerHandle[]): Wait {
  const wait = { left: new Set(workers) } as { -readonly [Key in keyof Wait]: Wait[Key] }
  wait.done = new Promise((resolve, reject) => {
    wait.resolve = resolve
    wait.reject = reject
  })
  return wait
}
