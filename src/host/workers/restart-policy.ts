// Decides when workers may be started. A file that does not load must not cost much time, so there are two rules:
// - The pool pauses after a failed start, and after several ready workers that exited without work. Each pause is twice
//   as long as the pause before.
// - When too many starts fail within a period, a circuit breaker opens for a longer pause. Then the pool starts one
//   worker. If the worker becomes ready, the circuit closes. If not, the circuit opens again.
import type { RestartOptions } from '../../api/pool-options.js'
import { type PoolError, RestartLimitError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import { moveState, type StateTable } from '../../shared/platform/state-machine.js'

export type RestartSettings = Readonly<Record<keyof RestartOptions, number>>

export const restartDefaults: RestartSettings = { failures: 5, period: 10_000, pause: 1000 }

export type CircuitState = 'closed' | 'open' | 'halfOpen'

export const circuitStates: StateTable<CircuitState> = {
  /** open: too many starts failed */
  closed: ['open'],
  /** halfOpen: the pause is over and one worker starts. closed: an earlier start succeeded */
  open: ['halfOpen', 'closed'],
  /** closed: the worker is ready. open: its start failed, or the host stopped it before it was ready */
  halfOpen: ['closed', 'open'],
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000
const LONGEST_OPEN_MS = 30_000
/** The number of ready workers in a row that may exit without work before the first pause. */
const TOLERATED_ENDS = 3

export class RestartPolicy {
  /** Only this class changes the state. */
  readonly circuit: { state: CircuitState } = { state: 'closed' }
  readonly #settings: RestartSettings
  /** Failed starts since the last one that succeeded. */
  #failedStarts = 0
  /** Exits of ready workers since the last answered task. */
  #endsWithoutWork = 0
  /** The times of the latest failed starts, oldest first. At most `failures` times are kept. */
  #failedAt: number[] = []
  #pausedUntil = 0
  /** How often the circuit has opened since it was last closed. */
  #openings = 0
  #lastFailureAt = Number.NEGATIVE_INFINITY
  /** The error of the last failure. */
  lastError: PoolError | null = null

  constructor(settings: RestartSettings = restartDefaults) {
    this.#settings = settings
  }

  /** @param wasReady false: the worker failed to start, so the pool pauses at once */
  onFailure(wasReady: boolean, error: PoolError, now: number): void {
    this.lastError = error
    this.#lastFailureAt = now
    if (wasReady) {
      this.#pause(++this.#endsWithoutWork - TOLERATED_ENDS, now)
    } else {
      this.#pause(++this.#failedStarts, now)
      this.#countFailedStart(now)
    }
  }

  /** Call it before a worker is started. */
  onSpawn(): void {
    if (this.circuit.state === 'open') this.#moveTo('halfOpen')
  }

  /** A worker is ready. */
  onStarted(): void {
    this.#failedStarts = 0
    if (this.circuit.state === 'closed') return
    this.#moveTo('closed')
    this.#openings = 0
    this.#failedAt = []
    this.#pausedUntil = 0
  }

  /** The host stopped a starting worker. The start did not fail, so the pool may try another worker. */
  onStartAborted(): void {
    if (this.circuit.state === 'halfOpen') this.#moveTo('open')
  }

  /** A worker answered a task. */
  onWorkDone(): void {
    if (this.#endsWithoutWork === 0) return
    this.#endsWithoutWork = 0
    if (this.circuit.state === 'closed' && this.#failedStarts === 0) this.#pausedUntil = 0
  }

  /** Forgets all failures, because the user has fixed their cause. */
  reset(): void {
    this.#failedStarts = 0
    this.#endsWithoutWork = 0
    this.#pausedUntil = 0
    this.#openings = 0
    this.#failedAt = []
    this.onStartAborted()
    if (this.circuit.state === 'open') this.#moveTo('closed')
  }

  /** 0 when there is no pause. */
  pauseLeftMs(now: number): number {
    return Math.max(this.#pausedUntil - now, 0)
  }

  maySpawn(now: number): boolean {
    return this.circuit.state !== 'halfOpen' && now >= this.#pausedUntil
  }

  /**
   * While no worker may be started, the pool rejects these calls: calls from before the last failure, and all calls
   * while the circuit is not closed.
   */
  isHopeless(calledAt: number): boolean {
    return this.circuit.state !== 'closed' || calledAt <= this.#lastFailureAt
  }

  /**
   * The error for a call while no worker may be started. A call from before the last failed start gets the error of
   * that start. A later call gets `RestartLimitError`. Each call gets a new error object.
   */
  refusal(calledAt: number, now: number): PoolError | null {
    if (this.lastError === null) return null
    const last = restate(this.lastError)
    if (this.circuit.state === 'closed' || calledAt <= this.#lastFailureAt) return last
    const { failures, period } = this.#settings
    const workerId = last instanceof WorkerStartError ? last.workerId : 0
    const retryAfter = Math.ceil(this.pauseLeftMs(now))
    return new RestartLimitError(workerId, { failures, period, retryAfter }, last)
  }

  #moveTo(next: CircuitState): void {
    moveState(circuitStates, this.circuit, next, 'circuit')
  }

  #pause(pauses: number, now: number): void {
    if (pauses <= 0) return
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (pauses - 1), LONGEST_PAUSE_MS)
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs)
  }

  #countFailedStart(now: number): void {
    const { failures, period, pause } = this.#settings
    if (this.circuit.state === 'open') return
    if (this.circuit.state === 'closed') {
      if (failures === Number.POSITIVE_INFINITY) return
      this.#failedAt.push(now)
      if (this.#failedAt.length > failures) this.#failedAt.shift()
      if (this.#failedAt.length < failures || now - this.#failedAt[0]! > period) return
    }
    this.#moveTo('open')
    const openMs = Math.min(pause * 2 ** this.#openings++, Math.max(LONGEST_OPEN_MS, pause))
    this.#pausedUntil = Math.max(this.#pausedUntil, now + openMs)
  }
}

/** A new error object with the same content. */
function restate(error: PoolError): PoolError {
  if (!(error instanceof WorkerStartError)) return error
  return new WorkerStartError(
    error.workerId,
    { filename: error.filename, name: error.handlerName },
    error.stage,
    error.cause,
  )
}
