// When workers may be started: freely, until starts fail or ready workers end without any work. Then there are pauses, so
// that a file that cannot load costs a little time now and then and nothing in between; and when too many starts fail within
// a period, a circuit breaker opens: none is started for longer, then one is tried, and by that one all is judged.

import { type PoolError, RestartLimitError, WorkerStartError } from '../../shared/errors/pool-errors.js'
import { invariant } from '../../shared/platform/invariant.js'

export interface RestartOptions {
  /** So many failed starts within `period` open the circuit; `Infinity`: it never opens. Default 5. */
  failures?: number | undefined
  /** Milliseconds. Default 10,000. */
  period?: number | undefined
  /** Milliseconds until one worker is tried; twice as long after each that fails, up to 30,000. Default 1,000. */
  pause?: number | undefined
}

export type RestartSettings = Readonly<Record<keyof RestartOptions, number>>

export const restartDefaults: RestartSettings = { failures: 5, period: 10_000, pause: 1000 }

export type CircuitState = 'closed' | 'open' | 'halfOpen'

export const circuitMoves = {
  /** open: too many starts failed */
  closed: ['open'],
  /** halfOpen: the pause is over and one worker starts; closed: one that had been starting before is ready */
  open: ['halfOpen', 'closed'],
  /** closed: it is ready; open: it failed, or was given up before it could tell */
  halfOpen: ['closed', 'open'],
} as const satisfies Record<CircuitState, readonly CircuitState[]>

export function moveCircuit(circuit: { state: CircuitState }, next: CircuitState): void {
  const legal: readonly CircuitState[] = circuitMoves[circuit.state]
  invariant(
    legal.includes(next),
    `a circuit moves from ${circuit.state} to one of [${legal.join(', ')}], not to ${next}`,
  )
  circuit.state = next
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000
const LONGEST_OPEN_MS = 30_000
/** Ends of ready workers without work between, before the first pause. */
const TOLERATED_ENDS = 3

export class RestartPolicy {
  /** Read only; moved here alone. */
  readonly circuit: { state: CircuitState } = { state: 'closed' }
  readonly #settings: RestartSettings
  /** Failed starts since the last one that succeeded. */
  #failedStarts = 0
  /** Ends of ready workers since the last task that was answered. */
  #vainEnds = 0
  /** When the latest starts failed, as many as would open the circuit, oldest first. */
  #failedAt: number[] = []
  #pausedUntil = 0
  /** How often the circuit has opened since it was last closed. */
  #openings = 0
  #lastFailureAt = Number.NEGATIVE_INFINITY
  /** What the last failed start died of. */
  lastError: PoolError | null = null

  constructor(settings: RestartSettings = restartDefaults) {
    this.#settings = settings
  }

  /** @param wasReady false: it did not even start, by a fault of its own, which pauses at once */
  onFailure(wasReady: boolean, error: PoolError, now: number): void {
    this.lastError = error
    this.#lastFailureAt = now
    if (wasReady) {
      this.#pause(++this.#vainEnds - TOLERATED_ENDS, now)
    } else {
      this.#pause(++this.#failedStarts, now)
      this.#countFailedStart(now)
    }
  }

  /** To be called before a worker is started. */
  onSpawn(): void {
    if (this.circuit.state === 'open') moveCircuit(this.circuit, 'halfOpen')
  }

  /** A worker is ready: starts succeed again. */
  onStarted(): void {
    this.#failedStarts = 0
    if (this.circuit.state === 'closed') return
    moveCircuit(this.circuit, 'closed')
    this.#openings = 0
    this.#failedAt = []
    this.#pausedUntil = 0
  }

  /** A worker was given up while it started: nobody knows whether it would have failed, so another may be tried. */
  onStartCutOff(): void {
    if (this.circuit.state === 'halfOpen') moveCircuit(this.circuit, 'open')
  }

  /** A worker answered a task. */
  onWorkDone(): void {
    if (this.#vainEnds === 0) return
    this.#vainEnds = 0
    if (this.circuit.state === 'closed' && this.#failedStarts === 0) this.#pausedUntil = 0
  }

  /** The operator says that what failed is mended. */
  forgive(): void {
    this.#failedStarts = 0
    this.#vainEnds = 0
    this.#pausedUntil = 0
    this.#openings = 0
    this.#failedAt = []
    this.onStartCutOff()
    if (this.circuit.state === 'open') moveCircuit(this.circuit, 'closed')
  }

  /** 0 when there is no pause. */
  pauseLeftMs(now: number): number {
    return Math.max(this.#pausedUntil - now, 0)
  }

  maySpawn(now: number): boolean {
    return this.circuit.state !== 'halfOpen' && now >= this.#pausedUntil
  }

  /**
   * The answer to a call of this moment while no worker may be started. One that waited when the last start failed is told
   * of that; one that came later, that none was tried for it. Each caller gets an error of its own.
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
    moveCircuit(this.circuit, 'open')
    const openMs = Math.min(pause * 2 ** this.#openings++, Math.max(LONGEST_OPEN_MS, pause))
    this.#pausedUntil = Math.max(this.#pausedUntil, now + openMs)
  }
}

function restate(error: PoolError): PoolError {
  if (!(error instanceof WorkerStartError)) return error
  return new WorkerStartError(
    error.workerId,
    { filename: error.filename, name: error.handlerName },
    error.stage,
    error.cause,
  )
}
