// Workers whose end was asked for, until they have ended: each has some time to end by itself, then it is killed.
import type { Clock, Timer } from '../../shared/base/clock.js'
import { TeardownError } from '../../shared/errors/pool-errors.js'
import type { WorkerHandle } from './worker-handle.js'

/** How long a worker that may be loading gets to end itself. Node 20 to 24 abort when one is killed in `require(esm)`. */
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
    if (ending.isPlanned && trouble !== undefined) this.onTeardownFailed(worker, trouble)
  }

  killPlanned(): void {
    for (const [worker, { isPlanned }] of this.#endings) if (isPlanned) worker.link!.terminate()
  }

  /** Kills the workers that still run their teardown; tells whether there were any. The others end by themselves, soon. */
  cutOffTeardowns(): boolean {
    let wereAny = false
    for (const [worker, { isPlanned }] of this.#endings) {
      if (!isPlanned || !worker.hasTeardown) continue
      worker.link!.terminate()
      wereAny = true
    }
    return wereAny
  }

  async allEnded(): Promise<void> {
    await Promise.all([...this.#endings.values()].map(ending => ending.ended))
  }
}

export class Ending {
  /** It ends by itself, after its teardown; else it is killed. */
  readonly isPlanned: boolean
  readonly ended: Promise<void>
  readonly #worker: WorkerHandle
  readonly #parts: EndingsParts
  #resolve!: () => void
  /** For one that does not end in time. */
  #kill: Timer | null = null

  constructor(worker: WorkerHandle, isPlanned: boolean, parts: EndingsParts) {
    this.isPlanned = isPlanned
    this.#worker = worker
    this.#parts = parts
    this.ended = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  /** Kills the worker; one that may be loading gets a moment to end itself. */
  cutOff(mayBeLoading: boolean): void {
    const link = this.#worker.link!
    if (!mayBeLoading) return link.terminate()
    link.post({ kind: 'stop' })
    this.#kill = this.#parts.clock.after(LOADING_GRACE_MS, () => link.terminate(), true)
  }

  /** The worker runs its teardown and ends. */
  letEnd(): void {
    const { clock, teardownTimeout, onTrouble } = this.#parts
    const worker = this.#worker
    worker.link!.post({ kind: 'end' })
    this.#kill = clock.after(
      worker.hasTeardown ? teardownTimeout : QUICK_END_MS,
      () => {
        if (worker.hasTeardown) onTrouble(new TeardownError(worker.id, teardownTimeout))
        worker.link!.terminate()
      },
      true,
    )
  }

  onExit(): void {
    this.#kill?.cancel()
    this.#resolve()
  }
}
