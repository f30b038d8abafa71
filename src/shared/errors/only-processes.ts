// Errors of threads that processes do not have, and the advice for them.

import { getBuiltinModule } from '../platform/node-modules.js'

const SELF_REGISTER = /did not self-register/i

/** What to do about an error that occurs only in threads. `null` for other errors. */
export function processAdvice(code: unknown, message: string): string | null {
  if (SELF_REGISTER.test(message)) {
    return "Only one thread of a process can load this native add-on. Use backend: 'process', or a version of the add-on that supports worker threads."
  }
  if (code === 'ERR_WORKER_UNSUPPORTED_OPERATION') {
    return "Threads cannot do this. Use backend: 'process'."
  }
  return null
}

/** Adds the advice to the message of an error that a handler threw. */
export function withProcessAdvice(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown
  const advice = processAdvice((thrown as NodeJS.ErrnoException).code, thrown.message)
  if (advice === null) return thrown
  const { isMainThread } = getBuiltinModule('node:worker_threads')
  if (isMainThread) return thrown
  if (thrown.message.includes(advice)) return thrown
  const message = `${thrown.message.replace(/\.?$/, '.')} ${advice}`
  // The error may be frozen.
  Reflect.defineProperty(thrown, 'message', { value: message, configurable: true, writable: true })
  return thrown
}
