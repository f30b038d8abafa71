// In whose async context callbacks run. What is begun while one caller is served, and serves others later, is to be no caller's:
// all would see what the first one has in an `AsyncLocalStorage`, and it would live as long.

import { claimStack } from './claim-stack.js'
import { getBuiltinModule } from './node-modules.js'

const { AsyncResource } = getBuiltinModule('node:async_hooks')

/** The context in which it was made. */
export class AsyncContext extends AsyncResource {
  run<T>(callback: () => T): T {
    // A context that could be entered and not left would end the process.
    claimStack(1)
    return this.runInAsyncScope(callback)
  }
}

const ofProgram = new AsyncContext('lido')

/** Calls back in the context in which this module was loaded. */
export function withoutCaller<T>(callback: () => T): T {
  return ofProgram.run(callback)
}
