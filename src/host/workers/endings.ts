// Workers whose end was asked for, until they have ended: each has some time to end by itself, then it is killed.

import { TeardownError } from '../../shared/errors/pool-errors.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { WorkerHandle } from './worker-handle.js'

/**
 * How long a worker that may be loading gets to end itself, however often its end is asked for. Node 20 to 24 abort when one
 * is killed in `require(esm)`.
 */
const LOADING_GRACE_MS = 250
/** How long a worker without a teardown gets to write out what it printed, and to end itself. */
const QUICK_END_MS = 1000

export interface EndingsParts {
  clock: Clock
  /** Milliseconds. */
  teardownTimeout: number
  /** Something went wrong that is no caller's. */
  onTrouble: (error: unknown) => void
}

export class Endings {
  readonly #parts: EndingsParts
  readonly #endings = new Map<WorkerHandle, Ending>()

  constructor(parts: EndingsParts) {
    this.#parts = parts
  }

  /** Workers that run their teardown. */
  get plannedCount(): number {
    let count = 0
    for (const ending of this.#endings.values()) if (ending.isPlanned) count++
    return count
  }

  of(worker: WorkerHandle): Ending | undefined {
    return this.#endings.get(worker)
  }

  /** From now on the worker counts as one that ends; asking it to is the caller's. */
  begin(worker: WorkerHandle, isPlanned: boolean): Ending {
    const ending = new Ending(worker, isPlanned, this.#parts)
    this.#endings.set(worker, ending)
    return ending
  }

  /** The worker has loaded a module that exports one. */
  onTeardownFound(worker: WorkerHandle): void {
    this.#endings.get(worker)?.onTeardownFound()
  }

  onTeardownFailed({ id }: WorkerHandle, cause: unknown): void {
    const { onTrouble, teardownTimeout } = this.#parts
    onTrouble(new TeardownError(id, teardownTimeout, cause))
  }

  /** @param trouble what went wrong meanwhile; `undefined`: nothing */
  onExit(worker: WorkerHandle, trouble: unknown): void {
    const ending = this.#endings.get(worker)
    if (ending === undefined) return
    this.#endings.delete(worker)
    ending.onExit()
    // What ended it before its file was loaded is no teardown's.
    const { isPlanned, mayBeLoading } = ending
    if (isPlanned && !mayBeLoading && trouble !== undefined) this.onTeardownFailed(worker, trouble)
  }

  killPlanned(): void {
    for (const ending of this.#endings.values()) if (ending.isPlanned) ending.cutOff()
  }

  /**
   * Kills the workers that still run their teardown, and lets no more begin one; tells whether any were killed. The others end
   * by themselves, soon.
   */
  cutOffTeardowns(): boolean {
    let wereAny = false
    for (const [worker, ending] of this.#endings) {
      if (!ending.isPlanned || !(worker.hasTeardown || ending.mayBeLoading)) continue
      if (worker.hasTeardown) wereAny = true
      ending.cutOff()
    }
    return wereAny
  }

  async allEnded(): Promise<void> {
    await Promise.all([...this.#endings.values()].map(ending => ending.ended))
  }
}

export class Ending {
  /** It ends by itself, after its teardown; else it is killed. */
  isPlanned: boolean
  /** It has not said that its file is loaded. */
  mayBeLoading: boolean
  readonly ended: Promise<void>
  readonly #worker: WorkerHandle
  readonly #parts: EndingsParts
  #resolve!: () => void
  /** For one that does not end in time. */
  #kill: Timer | null = null

  constructor(worker: WorkerHandle, isPlanned: boolean, parts: EndingsParts) {
    this.isPlanned = isPlanned
    this.mayBeLoading = worker.state === 'spawning'
    this.#worker = worker
    this.#parts = parts
    this.ended = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  /** Kills the worker; one that may be loading gets a moment to end itself. */
  cutOff(): void {
    this.isPlanned = false
    const link = this.#worker.link!
    if (!this.mayBeLoading) {
      this.#kill?.cancel()
      return link.terminate()
    }
    link.post({ kind: 'stop' })
    if (this.#kill === null) this.#killAfter(LOADING_GRACE_MS)
  }

  /** The worker runs its teardown and ends. */
  letEnd(): void {
    const { hasTeardown, link } = this.#worker
    link!.post({ kind: 'end' })
    if (hasTeardown) this.#killAfterTeardown()
    else this.#killAfter(this.mayBeLoading ? LOADING_GRACE_MS : QUICK_END_MS)
  }

  onTeardownFound(): void {
    if (!this.isPlanned) return
    this.mayBeLoading = false
    this.#killAfterTeardown()
  }

  #killAfterTeardown(): void {
    const { teardownTimeout, onTrouble } = this.#parts
    this.#killAfter(teardownTimeout, () => onTrouble(new TeardownError(this.#worker.id, teardownTimeout)))
  }

  /** After a turn: where the host was busy, it hears first of what was done in time. That a process has ended it hears a turn later. */
  #killAfter(delayMs: number, onLate = () => {}): void {
    const { clock } = this.#parts
    this.#kill?.cancel()
    const kill = () => {
      onLate()
      this.#worker.link!.terminate()
    }
    const onTimeOver = () => {
      this.#kill = clock.nextTurn(() => {
        if (this.#worker.link!.kind === 'process') this.#kill = clock.nextTurn(kill)
        else kill()
      })
    }
    this.#kill = clock.after(delayMs, onTimeOver, true)
  }

  onExit(): void {
    this.#kill?.cancel()
    this.#resolve()
  }
}
