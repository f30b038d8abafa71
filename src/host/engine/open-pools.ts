// Watches the open pools of this thread. Stops a pool that was collected without `close()`, and warns once of it. Warns
// once when one place of the program has created many pools that are open, for example one for each request.

import { Shutdown, type ShutdownParts } from './close.js'
import type { PoolEnd } from './pool-life.js'

/** As many as Node allows listeners of one event before it warns. */
const MOST_OF_ONE_PLACE = 10
const TYPE = 'LidoWarning'

/** By the place that creates them. */
const openAt = new Map<string, number>()
let hasWarnedOfMany = false
let hasWarnedOfForgotten = false

/** A pool that was not closed, without the pool itself. */
interface OpenPool {
  readonly place: string | null
  readonly parts: ShutdownParts
}

/** The pools of this thread that are not closed, in the order of creation. */
const listed = new Set<WeakRef<object>>()

const collected = new FinalizationRegistry<OpenPool>(({ place, parts }) => {
  warnOfForgotten(place)
  void shutDown(parts).close(false)
})

/** @param place the file and line that create the pool; `null`: not known */
export function watchPool(pool: object, place: string | null, parts: ShutdownParts): void {
  collected.register(pool, { place, parts }, pool)
  if (place === null) return
  const count = (openAt.get(place) ?? 0) + 1
  openAt.set(place, count)
  if (count > MOST_OF_ONE_PLACE) warnOfMany(count, place)
}

/** Call it when the pool closes. */
export function unwatchPool(pool: object): void {
  collected.unregister(pool)
}

/** Call it when the pool is closed. */
export function forgetPlace(place: string | null): void {
  if (place === null) return
  const left = openAt.get(place)! - 1
  if (left > 0) openAt.set(place, left)
  else openAt.delete(place)
}

/**
 * Lists the pool until the returned function is called. Neither holds the pool.
 * @param pool the public object
 */
export function listPool(pool: object): () => void {
  const ref = new WeakRef(pool)
  listed.add(ref)
  return () => void listed.delete(ref)
}

/** The pools of this thread, made by this copy of the package, that are not closed. */
export function openPools(): object[] {
  const pools: object[] = []
  for (const ref of listed) {
    const pool = ref.deref()
    if (pool === undefined) listed.delete(ref)
    else pools.push(pool)
  }
  return pools
}

export function shutDown(parts: ShutdownParts): PoolEnd {
  parts.life.end ??= new Shutdown(parts)
  return parts.life.end
}

function warnOfMany(count: number, place: string): void {
  if (hasWarnedOfMany) return
  hasWarnedOfMany = true
  process.emitWarning(
    `${count} pools are open that were created at ${place}. Each has its own workers. Create one pool when the program starts and use it for all calls, or close each pool.`,
    { type: TYPE, code: 'LIDO_MANY_POOLS' },
  )
}

function warnOfForgotten(place: string | null): void {
  if (hasWarnedOfForgotten) return
  hasWarnedOfForgotten = true
  process.emitWarning(
    `A pool was collected without close(), so its workers stop.${place === null ? '' : ` It was created at ${place}.`} Keep a reference to a pool that is in use, and close it at the end.`,
    { type: TYPE, code: 'LIDO_FORGOTTEN_POOL' },
  )
}
