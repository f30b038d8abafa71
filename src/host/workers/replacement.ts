// Replaces workers one after another. The old worker leaves when the new one is ready. The next replacement starts when
// the old one has ended. So the pool never has fewer workers than before, and at most one worker more.

import type { WorkerStopReason } from '../../api/worker-view.js'
import type { PoolError } from '../../shared/errors/pool-errors.js'
import type { PoolSize } from './scaling.js'
import type { Vacancies } from './vacancies.js'
import type { Worker } from './worker.js'

export interface ReplaceableGroup {
  /** The workers that start or are ready. */
  readonly workers: readonly Worker[]
  readonly vacancies: Vacancies
  readonly starts: {
    /** A replacement may exceed `maxWorkers` by one worker. */
    readonly mayAddReplacement: boolean
    /** Throws when no worker can be started. */
    spawnReplacement(replaced?: WorkerStopReason): Worker
  }
}

/** A call of `recycle()` or `reload()`. */
interface Request {
  /** The workers that existed at the call and have not ended since. */
  readonly old: Set<Worker>
  /** A worker that was started after the call has become ready. */
  hasNewWorker: boolean
  readonly done: Promise<void>
  resolve(): void
  reject(reason: unknown): void
}

export class Replacements {
  readonly #group: ReplaceableGroup
  readonly #size: PoolSize
  /** Workers to replace, in the order of the requests. */
  readonly #queue = new Set<Worker>()
  readonly #requests: Request[] = []
  /** The worker that `#replacement` replaces. The old worker runs until the new one is ready. */
  #old: Worker | null = null
  #replacement: Worker | null = null
  #hasEnded = false

  constructor(group: ReplaceableGroup, size: PoolSize) {
    this.#group = group
    this.#size = size
  }

  /** Replaces one worker. */
  replace(worker: Worker, reason: WorkerStopReason): void {
    this.#enqueue(worker, reason)
    this.#next()
  }

  #enqueue(worker: Worker, reason: WorkerStopReason): void {
    if (this.#hasEnded || worker === this.#old || worker.isLeaving || worker.state === 'draining') return
    worker.stopReason ??= reason
    this.#queue.add(worker)
  }

  /**
   * Replaces all workers that exist now. Resolves when they have ended and a new worker is ready.
   * @param reason with `recycle`: if another call is unfinished, returns its promise
   */
  replaceAll(reason: 'recycle' | 'reload'): Promise<void> {
    const last = this.#requests[this.#requests.length - 1]
    if (reason === 'recycle' && last !== undefined) return last.done
    const workers = [...this.#group.workers]
    if (workers.length === 0 && this.#size.minWorkers === 0) return Promise.resolve()
    const request = makeRequest(workers)
    this.#requests.push(request)
    // All of them, so that idle workers come first.
    for (const worker of workers) this.#enqueue(worker, reason)
    this.#next()
    return request.done
  }

  onReady(worker: Worker): void {
    for (const request of this.#requests) if (!request.old.has(worker)) request.hasNewWorker = true
    this.#resolveDone()
    if (worker !== this.#replacement) return
    this.#replacement = null
    const old = this.#old
    if (old === null) this.#next()
    else if (old.state === 'exited' || old.state === 'draining') this.#onReplaced()
    else old.leave(old.stopReason!)
  }

  /** @param startError `null` unless the worker failed to start */
  onEnded(worker: Worker, startError: PoolError | null): void {
    this.#queue.delete(worker)
    for (const { old } of this.#requests) old.delete(worker)
    this.#resolveDone()
    if (worker === this.#replacement) {
      this.#replacement = null
      if (startError !== null) return this.#fail(startError)
      // The new worker ended for another reason, so the old one still needs a replacement.
      if (this.#old !== null) this.#queue.add(this.#old)
      this.#onReplaced()
    } else if (worker === this.#old && this.#replacement === null) this.#onReplaced()
    else this.#next()
  }

  /** Call it when the pool closes. Rejects all requests. */
  end(error: PoolError): void {
    this.#hasEnded = true
    this.#fail(error)
  }

  #onReplaced(): void {
    this.#old = null
    this.#next()
  }

  #next(): void {
    if (this.#hasEnded || this.#old !== null || this.#replacement !== null) return
    if (!this.#group.starts.mayAddReplacement) return
    const old = this.#chooseOld()
    if (old === null && !this.#mustStartNew) return
    if (old !== null) this.#queue.delete(old)
    this.#old = old
    try {
      if (old !== null) this.#group.vacancies.onReplaced(old)
      this.#replacement = this.#group.starts.spawnReplacement(old?.stopReason ?? undefined)
    } catch (failure) {
      this.#fail(failure)
    }
  }

  /** Prefers an idle worker, which leaves soonest. A worker that leaves anyway needs no replacement. */
  #chooseOld(): Worker | null {
    let first: Worker | null = null
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

  /** True when the old workers of a request have ended, and no new worker is starting. */
  get #mustStartNew(): boolean {
    const isStarting = this.#group.workers.some(worker => worker.state === 'spawning')
    return !isStarting && this.#requests.some(request => request.old.size === 0)
  }

  #resolveDone(): void {
    for (const request of [...this.#requests]) {
      if (request.old.size > 0 || !request.hasNewWorker) continue
      this.#requests.splice(this.#requests.indexOf(request), 1)
      request.resolve()
    }
  }

  /** Rejects all requests. The old workers stay. */
  #fail(reason: unknown): void {
    for (const worker of this.#old === null ? this.#queue : [this.#old, ...this.#queue])
      worker.stopReason = null
    this.#old = null
    this.#queue.clear()
    for (const request of this.#requests.splice(0)) request.reject(reason)
  }
}

function makeRequest(workers: readonly Worker[]): Request {
  const request = { old: new Set(workers), hasNewWorker: false } as {
    -readonly [Key in keyof Request]: Request[Key]
  }
  request.done = new Promise((resolve, reject) => {
    request.resolve = resolve
    request.reject = reject
  })
  return request
}
