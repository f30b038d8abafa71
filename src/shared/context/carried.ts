// The stores that tasks carry from their caller to the worker: `carry()` of `lido/worker` registers them, in each thread by itself.
import type { Carried } from '../../api/carry.js'
import type { TaskMessage } from '../../api/channels.js'
import { AsyncLocalStorage } from '../platform/async-context.js'
import { globalSymbol } from '../platform/global-symbol.js'

/** The values of the stores at a call, by the names of the stores. */
export type Carrier = Record<string, unknown>

const storesKey = globalSymbol('carriedStores')
const ownStores = new Map<string, Carried<unknown>>()
// Changes nothing if another copy of this package defined it before.
Reflect.defineProperty(AsyncLocalStorage, storesKey, { value: ownStores })

/** Stored on a class of Node, so that all copies of this package in this thread share it. */
export const carriedStores: Map<string, Carried<unknown>> = (
  AsyncLocalStorage as unknown as Record<symbol, Map<string, Carried<unknown>> | undefined>
)[storesKey] ?? ownStores

/** The values of all stores in the present async context. `null`: no store has a value. */
export function captureCarried(task?: TaskMessage): Carrier | null {
  let values: Carrier | null = null
  for (const [name, { capture }] of carriedStores) {
    const value = capture(task)
    if (value === undefined) continue
    values ??= {}
    values[name] = value
  }
  return values
}

/** The values whose store this thread did not register. `undefined`: this thread registered all. */
export function foreignValues(values: Carrier): Carrier | undefined {
  const foreign = Object.entries(values).filter(([name]) => !carriedStores.has(name))
  return foreign.length === 0 ? undefined : Object.assign(Object.create(null), Object.fromEntries(foreign))
}

/** Calls the function with the values in their stores. Ignores values whose store this thread did not register. */
export function runCarried<T>(values: Carrier, callback: () => T): T {
  let call = callback
  for (const [name, { run }] of carriedStores) {
    if (!Object.hasOwn(values, name)) continue
    const inner = call
    call = () => run(values[name], inner)
  }
  return call()
}
