// Where a task was submitted, for the stack of what it rejects with. Taking that down costs each call some microseconds, so
// it is done only for pools that ask for it.

const told = new WeakSet<object>()

/**
 * @param call the function whose callers are meant
 * @returns a promise that settles as the given one does
 */
export function withCallerStack<T>(promise: Promise<T>, call: (...args: never[]) => unknown): Promise<T> {
  const here: { stack?: unknown } = {}
  Error.captureStackTrace(here, call)
  return promise.catch((reason: unknown) => {
    try {
      append(reason, here.stack)
    } catch {
      // To read a stack is to call the program's `Error.prepareStackTrace`: what that throws is no reason of a task.
    }
    throw reason
  })
}

/** One error may be told to several callers: the first one's stack stays. */
function append(reason: unknown, callerStack: unknown): void {
  if (!(reason instanceof Error) || told.has(reason)) return
  const frames = typeof callerStack === 'string' ? callerStack.slice(callerStack.indexOf('\n') + 1) : ''
  if (frames === '' || typeof reason.stack !== 'string') return
  told.add(reason)
  const stack = `${reason.stack}\n    --- submitted by ---\n${frames}`
  // What a user aborts with may be frozen.
  Reflect.defineProperty(reason, 'stack', { value: stack, configurable: true, writable: true })
}
