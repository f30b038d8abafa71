// The async context of callbacks. Work that starts in one caller's call and later serves other callers must not run in
// that caller's context. Otherwise all callers would see its values in an `AsyncLocalStorage`, and the values would
// never be freed.
import { getBuiltinModule } from './node-modules.js'

const { AsyncLocalStorage, AsyncResource } = getBuiltinModule('node:async_hooks')

export { AsyncLocalStorage }

/** Remembers the async context in which it is created. */
export class AsyncContext extends AsyncResource {
  run<T>(callback: () => T): T {
    return this.runInAsyncScope(callback)
  }
}

/**
 * A context that lives as long as a pool or longer. Tools that look for open handles, such as `jest --detectOpenHandles`, take a resource that
 * is not destroyed for one. So it counts as destroyed at once. Its context can be used all the same.
 */
export function lastingContext(type: string): AsyncContext {
  const context = new AsyncContext(type)
  // In Bun, `emitDestroy()` returns nothing.
  context.emitDestroy()
  return context
}

const ofProgram = lastingContext('lido')

/** Calls the callback in the async context in which this module was loaded. */
export function withoutCaller<T>(callback: () => T): T {
  return ofProgram.run(callback)
}
