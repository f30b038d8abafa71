// Closes pools when the process is asked to end. One listener a signal for all pools of the process; what becomes of the
// process afterwards is what would have become of it without the pools.

import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { realClock } from '../../shared/platform/clock.js'
import { globalSymbol } from '../../shared/platform/global-symbol.js'
import { constants, isMainThread } from '../../shared/platform/host-node-modules.js'
import { refuse } from './option-checks.js'

interface Closable {
  close(): Promise<unknown>
  destroy(): Promise<unknown>
}

type Signal = NodeJS.Signals

const DEFAULT_SIGNALS: readonly Signal[] = ['SIGTERM', 'SIGINT']
const NOT_TO_BE_CAUGHT = new Set<string>(['SIGKILL', 'SIGSTOP'])
/** What callers do with their last answers, as sending a response, gets so long before the signal is raised again. */
const LAST_WORDS_MS = 100

const listenerBrand = globalSymbol('signalListener')
const watching = new Map<Signal, Set<Closable>>()
let ending: Ending | null = null

Object.defineProperty(onSignal, listenerBrand, { value: true })

/** Closes the pool when one of the signals comes. Returns what ends that, to be called when the pool is closed. */
export function closeOnSignals(pool: Closable, signals: readonly Signal[]): () => void {
  for (const signal of signals) {
    const pools = watching.get(signal)
    if (pools === undefined) watching.set(signal, new Set([pool]))
    else pools.add(pool)
    // First of all, while those listeners are still there that remove themselves when they are called.
    if (!process.listeners(signal).includes(onSignal)) process.prependListener(signal, onSignal)
  }
  return () => {
    for (const signal of signals) forget(signal, pool)
  }
}

export function resolveSignals(given: unknown): readonly Signal[] {
  if (given === undefined || given === false) return []
  if (!isMainThread) {
    throw new InvalidOptionError(
      'closeOnSignals',
      "The option 'closeOnSignals' is for the main thread, the only one that signals reach. Leave it out here, and close the pool when the thread is told to end.",
    )
  }
  if (given === true) return DEFAULT_SIGNALS
  if (Array.isArray(given) && given.every(isCatchable)) return [...new Set(given)]
  const shown = Array.isArray(given) ? given.find(signal => !isCatchable(signal)) : given
  return refuse('closeOnSignals', shown, "true, or an array of signals that can be caught, as ['SIGTERM']")
}

function isCatchable(signal: unknown): signal is Signal {
  return (
    typeof signal === 'string' && Object.hasOwn(constants.signals, signal) && !NOT_TO_BE_CAUGHT.has(signal)
  )
}

function forget(signal: Signal, pool: Closable): void {
  const pools = watching.get(signal)
  if (!pools?.delete(pool) || pools.size > 0) return
  watching.delete(signal)
  process.off(signal, onSignal)
}

/** The first signal closes; another one does not wait any longer, and a third one meets nobody here. */
function onSignal(signal: Signal): void {
  if (ending === null) {
    ending = new Ending(signal)
    void ending.close()
    return
  }
  if (ending.force(signal)) return
  for (const [watched, pools] of watching) {
    if (ending.isOf(pools)) process.off(watched, onSignal)
  }
}

/** The pools are being closed because of a signal. */
class Ending {
  /** The first, and those that came later. */
  readonly #signals = new Set<Signal>()
  /** The first of them to which nobody else listened; where others listen, it is theirs to say how the process ends. */
  #toRaise: Signal | null = null
  readonly #pools = new Set<Closable>()
  readonly #closing: Promise<unknown>[] = []
  #isForced = false

  constructor(signal: Signal) {
    this.#add(signal)
  }

  async close(): Promise<void> {
    do {
      for (const pool of this.#others()) this.#take(pool, this.#isForced ? pool.destroy() : pool.close())
      await Promise.allSettled(this.#closing.splice(0))
    } while (this.#hasMore)
    if (this.#isForced || this.#toRaise === null) this.#end()
    else realClock.after(LAST_WORDS_MS, () => this.#end(), true)
  }

  /** True when it is the first signal for some pools, which did not ask for the one before. */
  force(signal: Signal): boolean {
    this.#isForced = true
    for (const pool of this.#pools) void pool.destroy()
    this.#add(signal)
    const others = this.#others()
    for (const pool of others) this.#take(pool, pool.close())
    return others.length > 0
  }

  /** All of them are being closed. */
  isOf(pools: Set<Closable>): boolean {
    return [...pools].every(pool => this.#pools.has(pool))
  }

  #add(signal: Signal): void {
    this.#signals.add(signal)
    if (process.rawListeners(signal).every(isOurs)) this.#toRaise ??= signal
  }

  /** Pools may have been made meanwhile, or have got their first signal. */
  get #hasMore(): boolean {
    return this.#closing.length > 0 || this.#others().length > 0
  }

  #others(): Closable[] {
    const asked = [...this.#signals].flatMap(signal => [...(watching.get(signal) ?? [])])
    return asked.filter(pool => !this.#pools.has(pool))
  }

  #take(pool: Closable, closed: Promise<unknown>): void {
    this.#pools.add(pool)
    this.#closing.push(closed)
  }

  /** Another copy of this package that is not done yet raises the signal when it is. */
  #end(): void {
    if (this.#hasMore) return void this.close()
    ending = null
    const signal = this.#toRaise
    if (signal === null || process.listenerCount(signal) > 0) return
    // Nothing is done by default to the first process of a container.
    if (process.pid === 1) process.exit(128 + constants.signals[signal])
    process.kill(process.pid, signal)
  }
}

/** Of any copy of this package. */
function isOurs(listener: unknown): boolean {
  return (listener as unknown as Record<symbol, unknown>)[listenerBrand] === true
}
