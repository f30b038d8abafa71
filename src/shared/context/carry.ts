// `carry()` of `lido/worker`.
import type { AsyncLocalStorage } from 'node:async_hooks'
import type { Carried, CarryOptions } from '../../api/carry.js'
import { AsyncLocalStorage as Storage } from '../platform/async-context.js'
import { carriedStores } from './carried.js'

/**
 * Lets each task carry a store of its caller to the handler. Call it in a module that the program and the handler's module import, so that
 * both threads register the store. The handler sees a copy of the value that the caller's store had at the call: also after an `await`,
 * in streams, and in a retry. A call with a value that cannot be copied rejects with `NotCloneableError`, which names the store.
 *
 * A second registration of the same name replaces the first one. Throws a `TypeError` for wrong arguments.
 *
 * ```ts
 * export const request = carry(new AsyncLocalStorage<Request>(), { name: 'request', pick: ({ id }) => ({ id }) })
 * ```
 * @returns the store
 */
export function carry<Store, Storage extends AsyncLocalStorage<Store>>(
  storage: Storage & AsyncLocalStorage<Store>,
  options: CarryOptions<Store>,
): Storage
/** Carries any value: `capture` reads it in the caller's context, and `run` sets it around the handler. */
export function carry<Value>(carried: Carried<Value>): void
export function carry(given: unknown, options?: unknown): unknown {
  const isStorage = isStore(given)
  const carried = isStorage ? ofStorage(given, options) : given
  const { name, capture, run } = Object(carried) as Partial<Carried>
  if (typeof name !== 'string' || name === '') throw wrong('name', name, 'a string that is not empty')
  if (name === '__proto__') throw wrong('name', name, "another name than '__proto__'")
  if (typeof capture !== 'function') throw wrong('capture', capture, 'a function')
  if (typeof run !== 'function') throw wrong('run', run, 'a function')
  carriedStores.set(name, carried as Carried)
  return isStorage ? given : undefined
}

function isStore(given: unknown): given is AsyncLocalStorage<unknown> {
  const { getStore, run } = Object(given) as Partial<AsyncLocalStorage<unknown>>
  return typeof getStore === 'function' && typeof run === 'function'
}

function ofStorage(storage: AsyncLocalStorage<unknown>, options: unknown): Partial<Carried> {
  const { name, pick, ...unknown } = Object(options) as Partial<CarryOptions<unknown>>
  for (const option of Object.keys(unknown))
    throw new TypeError(`Unknown option '${option}' of carry(). Its options are 'name' and 'pick'.`)
  if (pick !== undefined && typeof pick !== 'function') throw wrong('pick', pick, 'a function')
  if (pick === undefined) {
    return {
      name: name as string,
      capture: () => storage.getStore(),
      run: (value, callback) => storage.run(value, callback),
    }
  }
  // A handler that calls a pool itself carries the picked value on, which must not be picked from again.
  const picked = new Storage<unknown>()
  return {
    name: name as string,
    capture() {
      const store = storage.getStore()
      return store === undefined || store === picked.getStore() ? store : pick(store)
    },
    run: (value, callback) => picked.run(value, () => storage.run(value, callback)),
  }
}

function wrong(option: string, given: unknown, expected: string): TypeError {
  const shown =
    given === null
      ? 'null'
      : given === ''
        ? 'an empty string'
        : typeof given === 'string'
          ? `'${given}'`
          : typeof given
  const example = "carry(new AsyncLocalStorage(), { name: 'request' })"
  return new TypeError(
    `The option '${option}' of carry() must be ${expected}, got ${shown}. Example: ${example}`,
  )
}
