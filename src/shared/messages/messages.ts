// What host and worker say to each other over a channel. Each union is named for its reader.
import type { MessagePort } from 'node:worker_threads'
import type { SerializedError } from '../errors/serialize-error.js'
import type { SharedWords } from '../platform/atomics.js'
import type { Handler } from './handler.js'
import type { TransferItem } from './move.js'

/** What a worker says its words to: a port of its own thread, or a pipe to another process that keeps a port's promises. */
export interface HostPort {
  /** Throws what cannot be sent; then nothing was. */
  postMessage(message: ToHost, transferList?: readonly TransferItem[]): void
  on(event: 'message', listener: (message: ToWorker) => void): unknown
  on(event: 'messageerror', listener: () => void): unknown
}

/** The first word to a new worker; everything after it goes over `port`. */
export interface StartOrder extends WorkerOrder {
  port: MessagePort
}

/** The first word to a worker in a process of its own, which finds its pipes open. */
export interface ProcessOrder extends WorkerOrder {
  workerData: unknown
  /** Where the runtime's report of a fatal error goes; `null`: nowhere. */
  reportFd: number | null
}

export interface WorkerOrder {
  road: RoadOrder
  niceIncrement: number
  /** Loaded before the worker says it is ready; `null` when the pool has no file of its own. */
  preload: Handler | null
  limits: WorkerLimits | null
  /** Files that are being loaded where the worker is started from; `null`: none. */
  above: readonly string[] | null
  /** Tell now and then what tasks cost. */
  measures: boolean
}

/** What a worker itself looks after; `Infinity`: no limit. */
export interface WorkerLimits {
  /** Tasks that it may begin. */
  tasks: number
  /** What its heap, and the memory beside it that its values hold, may come to. */
  bytes: number
}

/** The measured tasks of one handler since the worker's last report: sums, in milliseconds. */
export interface HandlerMeasure extends Handler {
  tasks: number
  runMs: number
  /** The event loop was not idle. */
  activeMs: number
  /** The thread used a core. `null` where the runtime cannot measure it. */
  cpuMs: number | null
}

/** How tasks will reach the worker. */
export type RoadOrder =
  | { kind: 'port'; claims: SharedWords; clockOrigin: number }
  /** Nothing is shared: the worker tells what it begins. */
  | { kind: 'pipe' }
  | {
      kind: 'lane'
      lane: SharedArrayBuffer
      desk: SharedArrayBuffer
      workerId: number
      slots: number
      /** Of the host's clock, by which a worker says when it began a task. */
      clockOrigin: number
      /** The handlers that tasks may name by number alone. */
      handlers: KnownHandler[]
    }

export interface KnownHandler {
  handlerId: number
  handler: Handler
}

/**
 * To a worker: there is something in the lane. To the host: there is something in the worker's ring, or a worker passed by may
 * go on. A bare word, as a port writes and reads one sooner than an object.
 */
export type Bell = 'bell'

export type ToWorker =
  | Bell
  /** `handler` says what `handlerId` stands for, until the worker has answered a task with it. */
  | {
      kind: 'run'
      taskId: number
      slot: number
      handlerId: number
      handler: Handler | null
      payload: unknown
    }
  /** From now on tasks name this handler by its number alone. */
  | ({ kind: 'known' } & KnownHandler)
  /** The ticket that you have claimed, or were to claim, is taken back: wait for its payload no longer. */
  | { kind: 'drop'; taskId: number; slot: number }
  /** Nobody wants the answer of this task, which you have begun: its handler is to stop. */
  | { kind: 'cancel'; taskId: number; slot: number; reason: SerializedError }
  /** Say that your event loop turns. */
  | { kind: 'ask' }
  /** Say which tasks you hold: an answer arrived that could not be read. */
  | { kind: 'audit' }
  /** Take no more tasks, but what was given away to you for good; say that you leave, and finish what you have begun. */
  | { kind: 'leave' }
  /** You hold nothing any more: when your file is loaded, run the teardowns, write out what was printed, and end yourself. */
  | { kind: 'end' }
  /** End yourself; sent instead of a kill while the worker may be loading. */
  | { kind: 'stop' }

export type ToHost =
  | Bell
  | { kind: 'ready' }
  /** The file named at the start did not load; the worker ends after this. */
  | { kind: 'startFailed'; error: SerializedError }
  /** Nobody catches this: the worker ends of it. */
  | { kind: 'crashed'; error: SerializedError }
  /** With `isLong` the result is a `LargeMessage`. */
  | {
      kind: 'done'
      taskId: number
      slot: number
      result: unknown
      isLong?: true
      startedAt?: number
      runMs?: number
    }
  | {
      kind: 'failed'
      taskId: number
      slot: number
      reason: FailureReason
      error: SerializedError
      path: string
      startedAt?: number
      runMs?: number
    }
  /** The worker has claimed a ticket whose payload travels by the port. */
  | { kind: 'send'; taskId: number; slot: number }
  /** Of the first `received` tasks posted, those not answered. Every answer given before was sent before. */
  | { kind: 'holding'; taskIds: number[]; received: number }
  /** It takes no more tasks: it was asked to leave, has begun all it may, or a file failed again after it was tried again. */
  | { kind: 'leaving' }
  | { kind: 'measured'; handlers: HandlerMeasure[] }
  /** It holds more memory than it may; it works on until it is asked to leave. */
  | { kind: 'heavy' }
  /** It has loaded a module that exports a teardown. */
  | { kind: 'hasTeardown' }
  | { kind: 'teardownFailed'; error: SerializedError }
  /** The handler of a cancelled task has ended; its slot is free. */
  | { kind: 'over'; taskId: number; slot: number }
  /** The event loop turns: to `ask`. Of a process it is the first word. */
  | { kind: 'alive' }
  /** The `ordinal`-th task posted on this channel could not be read by the worker. */
  | { kind: 'unreadable'; ordinal: number }

/**
 * `thrown`: by the handler. `load`: its file did not load. `missing`: the file has no such function. `result`: what it
 * returned cannot be sent; only then `path` says what of it.
 */
export type FailureReason = 'thrown' | 'load' | 'missing' | 'result'
