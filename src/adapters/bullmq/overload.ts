// Watches the event loop and the memory of a host, so that it takes no jobs that it could not serve.

import { totalmem } from 'node:os'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { memoryUsage } from 'node:process'
import { realClock, type Timer } from '../../kit.js'

/** What a host has too little of. */
export type Overload = 'event loop' | 'memory'

export interface OverloadLimits {
  /** The mean delay of the event loop within one interval. */
  readonly maxEventLoopDelay: number
  readonly maxMemoryMb: number
}

const INTERVAL_MS = 500
/** How precisely Node measures the delay. It is part of each figure. */
const RESOLUTION_MS = 20
const MIB = 2 ** 20
const NS_PER_MS = 1e6

/** 90 % of the memory that the process may use, which a container limits. */
export function defaultMaxMemoryMb(): number {
  const limit = process.constrainedMemory() ?? 0
  const total = totalmem()
  // Without a limit, Node gives 0 or a huge number.
  return Math.floor(((limit > 0 && limit < total ? limit : total) * 0.9) / MIB)
}

export class OverloadWatch {
  readonly #limits: OverloadLimits
  readonly #onTick: (overload: Overload | null) => void
  readonly #delays: IntervalHistogram
  #timer: Timer | null = null

  /** @param onTick called twice a second */
  constructor(limits: OverloadLimits, onTick: (overload: Overload | null) => void) {
    this.#limits = limits
    this.#onTick = onTick
    this.#delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    this.#delays.enable()
    this.#schedule()
  }

  end(): void {
    this.#timer?.cancel()
    this.#delays.disable()
  }

  #schedule(): void {
    this.#timer = realClock.after(INTERVAL_MS, () => this.#tick(), false)
  }

  #tick(): void {
    this.#schedule()
    this.#onTick(this.#find())
  }

  #find(): Overload | null {
    const delayMs = this.#delays.mean / NS_PER_MS - RESOLUTION_MS
    this.#delays.reset()
    if (delayMs > this.#limits.maxEventLoopDelay) return 'event loop'
    return memoryUsage.rss() / MIB > this.#limits.maxMemoryMb ? 'memory' : null
  }
}
