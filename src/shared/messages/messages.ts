// What host and worker say to each other over a channel. Each union is named for its reader.
import type { MessagePort } from 'node:worker_threads'
import type { SerializedError } from '../errors/serialize-error.js'
import type { HandlerRef } from './handler-ref.js'
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
  lane: LaneOrder
  port: MessagePort
}

/** The first word to a worker in a process of its own, which finds its pipes open. */
export interface ProcessOrder extends WorkerOrder {
  lane: PipedLaneOrder
  workerData: unknown
  /** Where the runtime's report of a fatal error goes; `null`: nowhere. */
  reportFd: number | null
}

export interface WorkerOrder {
  niceIncrement: number
  /** Loaded before the worker says it is ready; `null` when the pool has no file of its own. */
  preload: HandlerRef | null
  limits: WorkerLimits | null
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
export interface HandlerMeasure extends HandlerRef {
  tasks: number
  runMs: number
  /** The event loop was not idle. */
  activeMs: number
  /** The thread used a core. `null` where the runtime cannot measure it. */
  cpuMs: number | null
}

/** How tasks reach the worker. */
export interface LaneOrder {
  /** The pool's tickets, shared queue and payloads. */
  memory: SharedArrayBuffer
  /** The worker's own shared state and result ring. */
  state: SharedArrayBuffer
  /** The worker claims tasks from the shared queue and answers through its ring. False: all tasks and answers are messages. */
  isShared: boolean
  workerId: number
  slots: number
  /** Where the host's clock starts. The worker reports times on that clock. */
  clockOrigin: number
  /** The handlers that tasks may name by number. */
  handlers: KnownHandler[]
}

/** The same for a worker in another process, where nothing is shared. */
export type PipedLaneOrder = Omit<LaneOrder, 'memory' | 'state' | 'isShared'>

export interface KnownHandler {
  handlerId: number
  handler: HandlerRef
}

/**
 * To a worker: there is something in the lane. To the host: there is something in the worker's ring, or a worker passed by may
 * go on. A bare word, as a port writes and reads one sooner than an object.
 */
export type Bell = 'bell'

export type ToWorker =
  | Bell
  /** Run this task. `offer` is the number in its ticket. `handler` is null when the worker knows `handlerId`. */
  | {
      kind: 'run'
      ticket: number
      offer: number
      taskId: number
      handlerId: number
      handler: HandlerRef | null
      /** The task runs alone on its worker. */
      isExclusive: boolean
      /** The payload was moved to this worker: it must run the task even while it leaves. */
      mustRun: boolean
      payload: unknown
    }
  /** From now on tasks name this handler by its number alone. */
  | ({ kind: 'register-handler' } & KnownHandler)
  /** The task is cancelled: its handler is to stop. */
  | { kind: 'cancel'; taskId: number; ticket: number; reason: SerializedError }
  /** Answer with `pong` when the event loop turns. */
  | { kind: 'ping' }
  /** Answer with `task-list`: a message could not be read. */
  | { kind: 'list-tasks' }
  /** Accept no more tasks, confirm with `leaving`, and finish the started tasks. */
  | { kind: 'leave' }
  /** The worker holds no task: when its file is loaded, run the teardowns, write out what was printed, and end. */
  | { kind: 'end' }
  /** End now. Sent instead of a kill while the worker may be loading. */
  | { kind: 'stop' }

/** When the handler of a task started, on the host's clock, and how long it ran. */
export interface RunTime {
  startedAt: number
  runMs: number
}

export type ToHost =
  | Bell
  | { kind: 'ready' }
  /** The pool's file did not load. The worker ends after this. */
  | { kind: 'start-failed'; error: SerializedError }
  /** An uncaught exception ends the worker. */
  | { kind: 'crashed'; error: SerializedError }
  /** With `isLong`, the result is a `LargeMessage`. */
  | ({ kind: 'done'; taskId: number; ticket: number; result: unknown; isLong?: true } & RunTime)
  | ({
      kind: 'failed'
      taskId: number
      ticket: number
      reason: FailureReason
      error: SerializedError
      path: string
    } & RunTime)
  /** The tasks that the worker has and has not answered. All its earlier answers were sent before. */
  | { kind: 'task-list'; taskIds: number[] }
  /** The worker accepts no more tasks: it was asked to leave, reached its limit of tasks, or a file failed to load twice. */
  | { kind: 'leaving' }
  | { kind: 'measured'; handlers: HandlerMeasure[] }
  /** The worker holds more memory than it may. It works on until it is asked to leave. */
  | { kind: 'memory-exceeded' }
  /** The worker has loaded a module that exports a teardown. */
  | { kind: 'has-teardown' }
  | { kind: 'teardown-failed'; error: SerializedError }
  /** The handler of a cancelled task has ended. */
  | { kind: 'task-ended'; taskId: number; ticket: number }
  /** The event loop turns. The first message of a process. */
  | { kind: 'pong' }
  /** A message with a task could not be read. */
  | { kind: 'unreadable' }

/**
 * `thrown`: by the handler. `load`: its file did not load. `missing`: the file has no such function. `result`: what it
 * returned cannot be sent; only then `path` says what of it.
 */
export type FailureReason = 'thrown' | 'load' | 'missing' | 'result'

type KindOf<Message> = Message extends { kind: infer Kind } ? Kind : Message

/** The kind of any message. The bell is a string, so it is its own kind. */
export function kindOf<Message extends ToHost | ToWorker>(message: Message): KindOf<Message> {
  return (typeof message === 'string' ? message : message.kind) as KindOf<Message>
}
