// Finds out that the whole program was stopped, for example by SIGSTOP or in a frozen instance of a function service. The
// sign is a timer that fires late. A busy program makes timers late, too, but it uses CPU time. A stopped program uses none.
import type { Clock } from '../../shared/platform/clock.js'

/** A shorter stop is not noticed. */
const SHORTEST_STOP_MS = 100
/** A program that used more of the time than this share was busy, not stopped. */
const LARGEST_CPU_SHARE = 0.1
/** Older stops are added up. */
const MOST_STOPS = 16

interface Stop {
  endedAt: number
  ms: number
}

export class StopWatch {
  readonly #clock: Clock
  /** In order. */
  readonly #stops: Stop[] = []
  /** When the timer should fire. `null`: no timer is set. */
  #expectedAt: number | null = null
  #cpuMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Call it when a timer is set. */
  begin(delayMs: number): void {
    // The program may have been stopped while an earlier timer was set, which has not fired yet.
    this.end()
    this.#expectedAt = this.#clock.now() + delayMs
    this.#cpuMs = this.#clock.processCpu()
  }

  /** Call it when the timer fires. */
  end(): void {
    if (this.#expectedAt === null) return
    const endedAt = this.#clock.now()
    const ms = endedAt - this.#expectedAt
    this.#expectedAt = null
    if (ms < SHORTEST_STOP_MS || this.#clock.processCpu() - this.#cpuMs > ms * LARGEST_CPU_SHARE) return
    this.#stops.push({ endedAt, ms })
    if (this.#stops.length <= MOST_STOPS) return
    const oldest = this.#stops.shift()!
    this.#stops[0]!.ms += oldest.ms
  }

  /** How long the program has been stopped since then. */
  stoppedSince(time: number): number {
    let stoppedMs = 0
    for (const { endedAt, ms } of this.#stops) if (endedAt > time) stoppedMs += Math.min(ms, endedAt - time)
    return stoppedMs
  }
}
