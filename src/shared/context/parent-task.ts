// The task for which the present code runs: its handler in a worker, or a function of its caller on the host. A nested call with
// `inherit: true` takes its signal and its deadline.
import type { TaskContext } from '../../api/task-context.js'
import { AsyncLocalStorage } from '../platform/async-context.js'
import { globalSymbol } from '../platform/global-symbol.js'

export type ParentTask = Pick<TaskContext, 'signal' | 'deadline'>

export interface ContextStorage<Context extends ParentTask> {
  /** `null` until a module of this thread imports `lido/worker`, or creates pools in a worker. */
  current: InstanceType<typeof AsyncLocalStorage<Context>> | null
}

const storageKey = globalSymbol('contextStorage')
const ownStorage: ContextStorage<never> = { current: null }
// Changes nothing if another copy of this package defined it before.
Reflect.defineProperty(AsyncLocalStorage, storageKey, { value: ownStorage })

/**
 * Stored on a class of Node, so that all copies of this package in this thread share it. Each `vm` context, as in Jest, has its own
 * `globalThis`.
 */
export function contextStorageOf<Context extends ParentTask>(): ContextStorage<Context> {
  const classes = AsyncLocalStorage as unknown as Record<symbol, ContextStorage<Context> | undefined>
  return classes[storageKey] ?? (ownStorage as ContextStorage<Context>)
}

/** Call it in a worker whose code imports `lido`: handlers there may make nested calls. */
export function enableNestedCalls(): void {
  const storage = contextStorageOf()
  storage.current ??= new AsyncLocalStorage()
}

/** `null` until the first call of a function. */
let callers: InstanceType<typeof AsyncLocalStorage<ParentTask>> | null = null

/** Runs a function that a task has called on the host. */
export function runForTask<T>(task: ParentTask, call: () => T): T {
  callers ??= new AsyncLocalStorage()
  return callers.run(task, call)
}

/** `null` outside a task. */
export function parentTask(): ParentTask | null {
  return callers?.getStore() ?? contextStorageOf().current?.getStore() ?? null
}
