// The caller's frames in the stacks of errors. An error of a public function begins at the line that called it. With the
// option `callerStack`, the error of a task also tells where the task was submitted. To capture that costs each call some
// microseconds.
import { type PublicFunction, withCallerFrames } from '../../shared/errors/pool-errors.js'

/** Errors that have a caller's frames already. One error may reject several calls. */
const extended = new WeakSet<object>()

/** Runs a part of the public function `entry`. A `PoolError` that it throws begins at the line that called `entry`. */
export function forCaller<T>(entry: PublicFunction, part: () => T): T {
  try {
    return part()
  } catch (problem) {
    throw withCallerFrames(problem, entry)
  }
}

/** Returns a promise that settles as the given one does. The error of a rejection gets the frames of the caller of `entry`. */
export function withCallerStack<T>(promise: Promise<T>, entry: PublicFunction): Promise<T> {
  const caller: { stack?: unknown } = {}
  Error.captureStackTrace(caller, entry)
  return promise.catch((reason: unknown) => {
    try {
      append(reason, caller.stack)
    } catch {
      // Reading a stack calls the program's `Error.prepareStackTrace`, which may throw. The task's own error matters more.
    }
    throw reason
  })
}

function append(reason: unknown, callerStack: unknown): void {
  if (!(reason instanceof Error) || extended.has(reason)) return
  const frames = typeof callerStack === 'string' ? callerStack.slice(callerStack.indexOf('\n') + 1) : ''
  if (frames === '' || typeof reason.stack !== 'string') return
  extended.add(reason)
  const stack = `${reason.stack}\n    --- submitted by ---\n${frames}`
  // The error may be frozen.
  Reflect.defineProperty(reason, 'stack', { value: stack, configurable: true, writable: true })
}
