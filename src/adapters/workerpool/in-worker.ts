// Workers of lido/workerpool load this file. It loads the program's script, which registers its methods by `worker()`.
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread, parentPort } from 'node:worker_threads'
import { context, move, transferableSymbol, valueSymbol, workerData } from '../../worker.js'
import { ownFields, within, workerClock } from '../../worker-kit.js'
import {
  EVENT,
  isTransfer,
  type LateEvent,
  type Method,
  type TaskOrder,
  throughJson,
  type WorkerOrder,
  type WorkerRegisterOptions,
  type WorkerSide,
  workerSide,
} from './orders.js'

const ABORT_LISTENER_MS = 1000
/** The program may replace `process.exit`. */
const exit: (code: number) => never = process.exit.bind(process)
/** A worker of this pool that is a main thread is a process. */
const isProcess = isMainThread
const order = workerData as WorkerOrder

if (!isProcess) {
  const threads = createRequire(import.meta.url)('node:worker_threads')
  threads.workerData = order.workerData ?? null
  syncBuiltinESMExports()
}

const methods: Record<string, Method> = Object.assign(Object.create(null), {
  /** Runs a function that the program sends as text. */
  run(text: string, params?: unknown[]) {
    const call = new Function(`return (${text}).apply(this, arguments);`)
    ;(call as unknown as { worker: object }).worker = publicWorker
    return call.apply(call, params ?? [])
  },
  methods: () => Object.keys(methods),
})

let abortListeners: (() => PromiseLike<unknown> | unknown)[] = []
let onTerminate: WorkerRegisterOptions['onTerminate']
let abortListenerMs = ABORT_LISTENER_MS
let onRegistered = () => {}
const registered = new Promise<void>(resolveRegistered => {
  onRegistered = resolveRegistered
})
/** The events of the running task that the host has not confirmed. */
let events: Promise<unknown>[] | null = null
let listenerId = 0

function emit(payload: unknown): void {
  if (events === null) return
  if (context.cancelled) return sendLate({ [EVENT]: listenerId, payload, isLast: false })
  const event = context.call(EVENT, isTransfer(payload) ? moved(payload) : payload)
  // The task awaits it later.
  event.catch(() => {})
  events.push(event)
}

function sendLate(event: LateEvent): void {
  if (isProcess) process.send?.(event)
  else parentPort?.postMessage(event)
}

if (order.emitsOutput) {
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      emit({ [name]: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString() })
      const done = rest.at(-1)
      if (typeof done === 'function') process.nextTick(done)
      return true
    }
  }
}

const publicWorker = {
  addAbortListener(listener: () => PromiseLike<unknown> | unknown) {
    abortListeners.push(listener)
  },
  emit,
}

const side: WorkerSide = {
  register(given, options) {
    for (const [name, method] of Object.entries(given ?? {})) {
      methods[name] = method
      ;(method as unknown as { worker: object }).worker = publicWorker
    }
    if (options) {
      const own = ownFields(options)
      onTerminate = own.onTerminate
      abortListenerMs = own.abortListenerTimeout || ABORT_LISTENER_MS
    }
    onRegistered()
  },
  emit,
}
Object.defineProperty(globalThis, workerSide, { value: side })

/** The worker is ready when the script has called `worker()`, perhaps after some time. */
export async function setup(): Promise<void> {
  const { script } = order
  if (script === null) return
  const isAddress = /^(?:file|data):/.test(script)
  await import(isAddress ? script : pathToFileURL(isAbsolute(script) ? script : resolve(script)).href)
  await registered
}

export async function teardown(): Promise<void> {
  await onTerminate?.(0)
}

export default function run({ method: name, params, listenerId: id }: TaskOrder): unknown {
  const method = methods[name]
  if (method === undefined) throw new Error(`Unknown method "${name}"`)
  events = id > 0 ? [] : null
  listenerId = id
  let isDone = true
  try {
    const result = method.apply(method, params)
    // A result that is there at once needs no promise.
    if (!isThenable(result) && id === 0) return sendable(result)
    isDone = false
    return finish(result, events ?? [])
  } catch (thrown) {
    throw asError(thrown)
  } finally {
    if (isDone) forgetTask()
  }
}

async function finish(pending: unknown, ownEvents: Promise<unknown>[]): Promise<unknown> {
  const { signal } = context
  const aborted = new Promise<void>(resolveAborted => {
    const abort = () => void onAbort().then(resolveAborted)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
  try {
    const result = await Promise.race([pending, aborted])
    await Promise.all(ownEvents)
    return sendable(result)
  } catch (thrown) {
    throw asError(thrown)
  } finally {
    if (signal.aborted && listenerId > 0) sendLate({ [EVENT]: listenerId, isLast: true })
    forgetTask()
  }
}

/** The caller always gets an error. Of another object, it has the fields that JSON keeps, as in workerpool. */
function asError(thrown: unknown): unknown {
  if (thrown instanceof Error || thrown === null || typeof thrown !== 'object') return thrown
  const own = 'toJSON' in thrown ? null : Object.getOwnPropertyNames(thrown)
  try {
    return Object.assign(new Error(''), JSON.parse(JSON.stringify(thrown, own)))
  } catch {
    return thrown
  }
}

function forgetTask(): void {
  events = null
  abortListeners = []
}

function sendable(result: unknown): unknown {
  if (isProcess && order.isJson) return throughJson(isTransfer(result) ? result.message : result)
  return isTransfer(result) ? moved(result) : result
}

function isThenable(value: unknown): boolean {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}

/** Resolves if the task has ended, so that the worker can run others. Otherwise this worker ends. */
async function onAbort(): Promise<void> {
  const listeners = abortListeners
  abortListeners = []
  let isEnded = false
  if (listeners.length > 0) {
    const all = Promise.all(listeners.map(async listener => listener())).then(
      () => true,
      () => false,
    )
    isEnded = await within(workerClock, abortListenerMs, all, () => false)
  }
  if (isEnded) return
  try {
    await onTerminate?.(0)
  } finally {
    exit(0)
  }
}

function moved({ message, transfer }: { message: unknown; transfer: any[] }): unknown {
  return move({ [transferableSymbol]: transfer, [valueSymbol]: message } as never)
}
