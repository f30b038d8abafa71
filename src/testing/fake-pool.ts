// A pool without threads and without time: the test plays the workers and moves the clock.
import type { PoolOptions } from '../host/pool/options.js'
import { Pool } from '../host/pool/pool.js'
import type { RunOptions } from '../host/pool/run-options.js'
import { FakeBackend, type FakeLink } from './fake-backend.js'
import { ManualClock } from './manual-clock.js'
import { type Watched, watch } from './stand-ins.js'

export interface FakePool {
  pool: Pool
  clock: ManualClock
  backend: FakeBackend
  /** Hands a task to the pool and follows it. */
  run: (payload?: unknown, options?: RunOptions) => Watched<unknown>
  /** Every event so far, by name. */
  events: string[]
  /** What the event `error` brought. */
  errors: unknown[]
}

const eventNames = ['drain', 'needsDrain', 'message', 'workerCreate', 'workerDestroy', 'close'] as const

/** `maxThreads` is 1 and `minThreads` as high, unless said otherwise. */
export function fakePool(options: PoolOptions = {}, backend = new FakeBackend()): FakePool {
  const clock = new ManualClock()
  backend.clock ??= clock
  const { maxThreads = 1, minThreads = maxThreads } = options
  const pool = new Pool(
    { filename: '/handler.js', lane: false, ...options, minThreads, maxThreads },
    { clock, backend },
  )
  const events: string[] = []
  const errors: unknown[] = []
  for (const name of eventNames) pool.on(name, () => events.push(name))
  pool.on('error', error => errors.push(error))
  return { pool, clock, backend, events, errors, run: (payload, given) => watch(pool.run(payload, given)) }
}

/** A pool whose first workers are ready, and these. */
export function readyPool(options: PoolOptions = {}): FakePool & { links: FakeLink[] } {
  const made = fakePool(options)
  const links = [...made.backend.links]
  for (const link of links) link.ready()
  return { ...made, links }
}
