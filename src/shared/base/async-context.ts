// In whose async context callbacks run. What is begun while one caller is served, and serves others later, is to be no caller's:
// all would see what the first one has in an `AsyncLocalStorage`, and it would live as long.
import { getBuiltinModule } from './builtins.js'

const { AsyncResource } = getBuiltinModule('node:async_hooks')

/** Entering and leaving a context takes less of the stack. */
const STACK_ROOM: readonly undefined[] = new Array(512).fill(undefined)
const takeRoom: (...room: readonly undefined[]) => void = () => {}

/** The context in which it was made. */
export class AsyncContext extends AsyncResource {
  run<T>(callback: () => T): T {
    // Where the stack is at its end, this throws: a context that could be entered and not left would end the process.
    takeRoom(...STACK_ROOM)
    return this.runInAsyncScope(callback)
  }
}

const ofProgram = new AsyncContext('lido')

/** Calls back in the context in which this module was loaded. */
export function withoutCaller<T>(callback: () => T): T {
  return ofProgram.run(callback)
}
