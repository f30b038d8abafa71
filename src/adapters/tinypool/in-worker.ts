// Workers of lido/tinypool load this file. It sets `process.__tinypool_state__`, loads the user's files, and calls their
// functions.
import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread, parentPort } from 'node:worker_threads'
import { move, readWorkerData, serializeError, transferableSymbol, valueSymbol } from '../../worker-kit.js'
import { isMovable, unwrap } from './movable.js'
import {
  type ChannelMessage,
  ISOLATED_END,
  type IsolatedEnd,
  setTinypoolState,
  type TaskOrder,
  throughJson,
  type WorkerOrder,
} from './orders.js'

type Handler = (task: unknown) => unknown

/** A worker of this pool that is a main thread is a process. */
const isProcess = isMainThread
const [order, userData] = readWorkerData() as [WorkerOrder, unknown]

setTinypoolState({
  ...(isProcess ? { isChildProcess: true } : { isWorkerThread: true }),
  isTinypoolWorker: true,
  // Tinypool gives processes no data.
  workerData: isProcess ? null : userData,
  workerId: order.workerId,
})

/** Vitest replaces `process.exit` in its workers. */
const exit: (code: number) => never = process.exit.bind(process)

/** Loaded before the first task, because a task that starts earlier has no context. */
const { context } = order.isIsolated ? await import('../../worker.js') : { context: null }

/** By file and name. */
const handlers = new Map<string, Map<string, Handler>>()

/** Loads the pool's file before the first task. If the file fails, each task loads it again and rejects with the error. */
export async function setup(): Promise<void> {
  if (order.filename !== null) await findHandler(order.filename, order.name).catch(() => {})
}

export async function teardown(): Promise<void> {
  if (order.teardown === null || order.filename === null) return
  await (await getHandler(order.filename, order.teardown))({})
}

export default function run(taskOrder: TaskOrder): unknown {
  if (order.isIsolated) return runLast(taskOrder)
  if (taskOrder.channel !== undefined) return runWithChannel(taskOrder, taskOrder.channel)
  const result = callHandler(taskOrder)
  // A result that is there at once needs no promise.
  return isThenable(result) ? Promise.resolve(result).then(sendable) : sendable(result)
}

async function runWithChannel(taskOrder: TaskOrder, channel: number): Promise<unknown> {
  tell({ __tinypool_worker_message__: true, started: channel })
  try {
    return sendable(await callHandler(taskOrder))
  } finally {
    tell({ __tinypool_worker_message__: true, ended: channel })
  }
}

/** Runs the only task of this worker, and its teardown. Until the worker exits, the pool gives it no other task. */
async function runLast(taskOrder: TaskOrder): Promise<never> {
  const { channel } = taskOrder
  if (channel !== undefined) tell({ __tinypool_worker_message__: true, started: channel })
  let end: unknown
  try {
    end = isolatedEnd(await callHandler(taskOrder))
  } catch (thrown) {
    end = { error: serializeError(thrown) }
  }
  await flush()
  try {
    await teardown()
  } catch (thrown) {
    end = { error: serializeError(thrown) }
  }
  if (channel !== undefined) tell({ __tinypool_worker_message__: true, ended: channel })
  const tellEnd = (value: unknown) => context!.call(ISOLATED_END, value)
  // A result that cannot be sent is an error of the task.
  await tellEnd(end).catch(failure => tellEnd({ error: serializeError(failure) }))
  exit(0)
}

/** The result is a promise while the handler's file is not loaded. */
function callHandler({ task, filename = order.filename!, name = order.name }: TaskOrder): unknown {
  const known = handlers.get(filename)?.get(name)
  return known === undefined ? getHandler(filename, name).then(handler => handler(task)) : known(task)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}

/** Converts a result of Tinypool's `move()` to one of lido's. */
function sendable(result: unknown): unknown {
  if (isProcess && order.isJson) return throughJson(result)
  if (!isMovable(result)) return result
  const [value, items] = unwrap(result, [])
  return move({ [transferableSymbol]: items, [valueSymbol]: value })
}

function isolatedEnd(result: unknown): unknown {
  if (isProcess && order.isJson) return { result: throughJson(result) }
  const [value, items] = unwrap(result, [])
  const end: IsolatedEnd = { result: value }
  return items.length === 0 ? end : move({ [transferableSymbol]: items, [valueSymbol]: end })
}

async function getHandler(filename: string, name: string): Promise<Handler> {
  const handler = await findHandler(filename, name)
  if (handler !== null) return handler
  throw new Error(`No handler function "${name}" exported from "${filename}"`)
}

/** Looks for the name in a default export that is an object, then in the module. A default function has every name. */
async function findHandler(filename: string, name: string): Promise<Handler | null> {
  const module: any = await import(isAbsolute(filename) ? pathToFileURL(filename).href : filename)
  const inner = typeof module.default === 'function' ? module : (module.default ?? module)
  let handler = typeof inner === 'function' ? inner : await inner[name]
  if (typeof handler !== 'function') handler = await module[name]
  if (typeof handler !== 'function') return null
  const ofFile = handlers.get(filename) ?? new Map<string, Handler>()
  handlers.set(filename, ofFile.set(name, handler))
  return handler
}

function tell(message: ChannelMessage): void {
  if (parentPort !== null) parentPort.postMessage(message)
  else if (process.connected) process.send!(message)
}

/** Waits until the host has read what the task has printed. */
async function flush(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0) await new Promise(resolve => stream.write('', resolve))
  }
}
