// The storage of task contexts. The executor and every copy of `lido/worker` in this thread share it.
// It stands apart because `lido/worker` must load quickly: this file needs none of the worker's other code.
import type { AsyncLocalStorage } from 'node:async_hooks'
import { globalSymbol } from '../shared/platform/global-symbol.js'
import type { TaskContext } from './task-context.js'

interface ContextStorage {
  /** `null` until a module of this thread imports `lido/worker`. Until then no task pays for its context. */
  current: AsyncLocalStorage<TaskContext> | null
}

const key = globalSymbol('contextStorage')
const ownStorage: ContextStorage = { current: null }
// Changes nothing if another copy of this package defined it before.
Reflect.defineProperty(globalThis, key, { value: ownStorage })

export const contextStorage: ContextStorage =
  (globalThis as unknown as Record<symbol, ContextStorage | undefined>)[key] ?? ownStorage
