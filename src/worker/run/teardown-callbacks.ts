// The callbacks of `onTeardown()` in `lido/worker`. They belong to a thread, because libraries register them and no module of a handler does.
// Inline workers share a thread, so the callbacks run when the last of them ends.
import { AsyncLocalStorage } from 'node:async_hooks'
import { globalSymbol } from '../../shared/platform/global-symbol.js'

type Callback = () => unknown

interface TeardownRegistry {
  readonly callbacks: Set<Callback>
  /** For each worker on this thread, the function that tells its host of the first callback. */
  readonly workers: Set<() => void>
}

const registryKey = globalSymbol('teardownCallbacks')
const ownRegistry: TeardownRegistry = { callbacks: new Set(), workers: new Set() }
// On a class of Node, as the storage of contexts: all copies of this package in this thread share it.
Reflect.defineProperty(AsyncLocalStorage, registryKey, { value: ownRegistry })
const registry =
  (AsyncLocalStorage as unknown as Record<symbol, TeardownRegistry | undefined>)[registryKey] ?? ownRegistry

/** @returns a function that removes the callback */
export function onTeardown(callback: () => unknown): () => void {
  if (typeof callback !== 'function') {
    throw new TypeError(`onTeardown() needs a function, got ${describe(callback)}.`)
  }
  // Two calls with one function are two callbacks.
  const own: Callback = () => callback()
  registry.callbacks.add(own)
  for (const announce of registry.workers) announce()
  return () => void registry.callbacks.delete(own)
}

function describe(value: unknown): string {
  return value === null ? 'null' : `a value of type ${typeof value}`
}

/** The callbacks, as one worker uses them. */
export class TeardownCallbacks {
  readonly #say: () => void
  #hasSaid = false
  #isOpen = false
  #hasEnded = false

  /** @param say tells the host that the worker has a teardown. Called at most once. */
  constructor(say: () => void) {
    this.#say = say
    registry.workers.add(this.#announce)
  }

  /** Call it when the file is loaded. The host takes a worker that has a teardown for one that has loaded its file. */
  open(): void {
    this.#isOpen = true
    this.#announce()
  }

  /** Call it when the worker exits. Returns the callbacks to run. */
  take(): Callback[] {
    if (this.#hasEnded) return []
    this.#hasEnded = true
    registry.workers.delete(this.#announce)
    return registry.workers.size > 0 ? [] : [...registry.callbacks]
  }

  readonly #announce = (): void => {
    if (!this.#isOpen || this.#hasSaid || registry.callbacks.size === 0) return
    this.#hasSaid = true
    this.#say()
  }
}
