// The messages between host and worker. The name of each union says who receives its messages.
import type { MessagePort } from 'node:worker_threads'
import type { TransferItem } from '../../api/call-options.js'
import type { PoolIdentity } from '../../api/channels.js'
import type { SerializedError } from '../errors/serialize-error.js'
import type { HandlerRef } from './handler-ref.js'
import type { BodyToCaller, BodyToTask } from './task-body.js'

/** The worker's end of a channel to the host: a message port, or a pipe between processes that behaves like a port. */
export interface HostPort {
  /** Throws when a part of the message cannot be sent. Then nothing is sent. */
  postMessage(message: ToHost, transferList?: readonly TransferItem[]): void
  on(event: 'message', listener: (message: ToWorker) => void): unknown
  on(event: 'messageerror', listener: () => void): unknown
}

/** The first message to a worker thread. All later messages use `port`. */
export interface StartOrder extends WorkerOrder {
  lane: LaneOrder
  port: MessagePort
}

/** The first message to a worker process. All messages use its pipes. */
export interface ProcessOrder extends WorkerOrder {
  lane: PipedLaneOrder
  workerData: unknown
  /** The file descriptor for Node's report of a fatal error; `null`: no report. */
  reportFd: number | null
}

export interface WorkerOrder {
  niceIncrement: number
  /** How long the `setup` export of a module may take. 0: the worker does not call it. */
  setupTimeoutMs: number
  /** The worker loads it before it sends `ready`; `null` when the pool has no file. */
  preload: HandlerRef | null
  /** The number by which tasks name `preload`. */
  preloadId: number
  /** The handlers' files that the host's thread is loading, if it is itself a worker. */
  loading: readonly string[]
  /** The worker runs them, in order, before it sends `ready`. */
  startCalls: StartCall[]
  limits: WorkerLimits | null
  /** The pool limits the heap, so the worker checks whether the limit holds. */
  checksHeap?: boolean
  /** The worker measures tasks and sends `measured` regularly. */
  measures: boolean
  origin: HandlerOrigin
}

/** Where a handler runs, for messages of channels. */
export interface HandlerOrigin {
  pool: PoolIdentity
  workerId: number
}

/** In MiB: what the option asks for, and what the runtime allows. `ignored`: the runtime has no such limit. */
export type HeapExcess = { askedMb: number; allowedMb: number } | 'ignored'

/** Limits that the worker itself checks; `Infinity`: no limit. */
export interface WorkerLimits {
  /** The most tasks that the worker may start. */
  tasks: number
  /** The most bytes of its heap and of the external memory of its values. */
  bytes: number
}

/** The measured tasks of one handler since the worker's last report: sums, in milliseconds. */
export interface HandlerMeasure extends HandlerRef {
  tasks: number
  runMs: number
  /** The time in which the event loop was not idle. */
  activeMs: number
  /** The time in which the thread used a core. `null` where Node cannot measure it. */
  cpuMs: number | null
}

/** What a worker measures of itself. */
export interface WorkerMeasure {
  /** The heap and the external memory that it holds. */
  memoryBytes: number
  heapBytes: number
  /** The time for which its thread or process used cores. `null` where Node cannot measure it. */
  cpuMs: number | null
}

/** The lane of a worker: how tasks reach it. */
export interface LaneOrder {
  /** The pool's tickets, lane queue and payloads. */
  memory: SharedArrayBuffer
  /** The worker's own shared state and result ring. */
  state: SharedArrayBuffer
  /**
   * The worker claims tasks from the lane queue and answers through its ring. False: all tasks and answers are
   * messages.
   */
  usesLaneQueue: boolean
  workerId: number
  slots: number
  /** The start of the host's clock. The worker reports times on that clock. */
  clockOrigin: number
  /** False: the worker busy-waits although other threads need the core. */
  yieldsCore: boolean
  /** The handlers that tasks may name by number. */
  handlers: KnownHandler[]
  /** The resources that payloads may name by number. */
  resources: KnownResource[]
}

/** What the handles with this number stand for. */
export interface KnownResource {
  id: number
  /** `null` in a message: no payload names it any more. */
  content: unknown
}

/** The same for a worker in another process, where nothing is shared. */
export type PipedLaneOrder = Omit<LaneOrder, 'memory' | 'state' | 'usesLaneQueue'>

export interface KnownHandler {
  handlerId: number
  handler: HandlerRef
}

/** A call that a new worker runs before its first task. */
export interface StartCall extends KnownHandler {
  payload: unknown
}

/**
 * To a worker: the lane has tasks. To the host: the worker's ring has answers, or the worker has a free slot again.
 * A string, because a port sends and receives a string faster than an object.
 */
export type Bell = 'bell'

/**
 * `value`: the payload itself. `large`: a `LargeMessage` of the lane's codec. `packed`: for a process, `{ payload }` as `packMessage()` writes it,
 * without the head.
 */
export type PayloadForm = 'value' | 'large' | 'packed'

export type ToWorker =
  | Bell
  /** Run this task. `messageNumber` is also the owner in its ticket. `handler` is null when the worker knows `handlerId`. */
  | {
      kind: 'run'
      ticket: number
      messageNumber: number
      taskId: number
      handlerId: number
      handler: HandlerRef | null
      /** The task runs alone on its worker. */
      isExclusive: boolean
      /** No other worker runs the task: this one must run it even while it leaves. */
      mustRun: boolean
      /** The id of a task on this worker that waits for its caller and lends its slot to this task; 0: none. */
      lenderId: number
      payload: unknown
      payloadForm: PayloadForm
      /** Only for a task with time limits. */
      limits?: { timeoutMs: number; deadline: number }
      /** The values of the carried stores. */
      carrier?: { payload: unknown; payloadForm: PayloadForm }
    }
  /** From now on tasks name this handler by its number. */
  | ({ kind: 'register-handler' } & KnownHandler)
  /** From now on payloads may name this resource, or no payload names it any more. */
  | ({ kind: 'resource' } & KnownResource)
  /** The task is cancelled. Abort its signal. */
  | { kind: 'cancel'; taskId: number; ticket: number; reason: SerializedError }
  /** To a running task, from its caller. */
  | { kind: 'to-task'; taskId: number; body: BodyToTask }
  /** To a process, which shares no memory: the host has handled one more message that counts. */
  | { kind: 'heard' }
  /** The host drops lines of loggers below this level. */
  | { kind: 'log-level'; level: number }
  /** Answer with `pong` when the event loop turns. */
  | { kind: 'ping' }
  /** Answer with `task-list`. Sent when a message could not be read. */
  | { kind: 'list-tasks' }
  /** Call the default export of this file without an argument, and answer with `asked`. This is no task. */
  | { kind: 'ask'; filename: string }
  /** Accept no more tasks, confirm with `leaving`, and finish the started tasks. */
  | { kind: 'leave' }
  /**
   * Finish the requests of handlers, run the teardowns, flush the output and exit, after the file is loaded. Sent to a
   * worker without tasks.
   */
  | { kind: 'stop' }
  /** Exit now, or as soon as the file is loaded. The host sends it before it kills a worker. */
  | { kind: 'exit' }
  /** To a process: start a CPU profile, send the one before and start the next, or send the last one. */
  | { kind: 'profile'; order: 'start' | 'next' | 'stop' }

/** The start of a task's handler on the host's clock, and its run time. */
export interface RunTime {
  startedAt: number
  runMs: number
}

export type ToHost =
  | Bell
  /** `heapExcess`: the heap may grow beyond the option `resourceLimits`. */
  | { kind: 'ready'; heapExcess?: HeapExcess | null }
  /**
   * The pool's file did not load, or a start call failed. The worker exits after this message. `handler` names the
   * function of the start call; with `isMissing`, its file exports no such function,
   * and `error` is a list of the functions that it exports.
   */
  | { kind: 'start-failed'; error: SerializedError; handler: HandlerRef | null; isMissing: boolean }
  /** An uncaught exception ends the worker; with `isCaught`, only if a listener of the user throws. */
  | { kind: 'crashed'; error: SerializedError; isCaught: boolean }
  /** With `isLong`, the result is a `LargeMessage`. With `isItem`, it answers the next item of a pack. */
  | ({
      kind: 'done'
      taskId: number
      ticket: number
      result: unknown
      isLong?: true
      isItem?: boolean
    } & RunTime)
  | ({
      kind: 'failed'
      taskId: number
      ticket: number
      reason: FailureReason
      error: SerializedError
      path: string
      isItem?: boolean
    } & RunTime)
  /** From a running task, to its caller. `isCounted`: the worker sends the next such message when the host has handled this one. */
  | { kind: 'from-task'; taskId: number; ticket: number; body: BodyToCaller; isCounted?: true }
  /** The unanswered tasks of the worker. The worker sent all earlier answers before this message. */
  | { kind: 'task-list'; taskIds: number[] }
  /**
   * The worker accepts no more tasks: it was asked to leave, reached its limit of tasks, or a file failed to load
   * twice.
   */
  | { kind: 'leaving' }
  | ({ kind: 'measured'; handlers: HandlerMeasure[] } & WorkerMeasure)
  /** The result of a function that `ask` named. `undefined`: it does not load, or it failed. */
  | { kind: 'asked'; filename: string; result: unknown }
  /** The worker uses more memory than its limit. It continues until the host asks it to leave. */
  | { kind: 'memory-exceeded'; memoryBytes?: number }
  /** The worker has loaded a module that exports a teardown. */
  | { kind: 'has-teardown' }
  | { kind: 'teardown-failed'; error: SerializedError }
  /**
   * A worker that was asked to stop waits at most `UNFINISHED_MS` for requests that its handlers started. With
   * `isCutOff`, it exits before they are finished. `requests` names them.
   */
  | { kind: 'unfinished'; requests: string[]; isCutOff: boolean }
  /** Lines of a logger, in order. Each starts with its level and a space, and ends with a newline. Empty: a logger exists. */
  | { kind: 'log'; lines: string }
  /** The handler of a cancelled task has finished. */
  | { kind: 'task-ended'; taskId: number; ticket: number }
  /** The event loop turns. The first message of a process. */
  | { kind: 'pong' }
  /** A message with a task could not be read. */
  | { kind: 'unreadable' }
  /** From a process: a CPU profile as JSON; `null` when Node cannot make it. */
  | { kind: 'profile'; profile: string | null }

/**
 * `thrown`: the handler threw. `load`: its file did not load. `missing`: the file does not export the function.
 * `result`: the result cannot be sent; only then `path` names the part.
 */
export type FailureReason = 'thrown' | 'load' | 'missing' | 'result'

/** How long a worker that stops as planned may wait for requests that its handlers started and did not await. */
export const UNFINISHED_MS = 2000

export interface Receiver {
  /** `worker`: the object that stands for the worker on the host. `tasks`: the part that knows its tasks. */
  readonly by: 'worker' | 'tasks'
  /** The message also counts after the host has stopped or killed the worker. */
  readonly isLate?: true
}

/** Who receives each kind of message on the host. */
export const receiversOnHost = {
  ready: { by: 'worker' },
  'start-failed': { by: 'worker' },
  crashed: { by: 'worker' },
  leaving: { by: 'worker' },
  'memory-exceeded': { by: 'worker' },
  'has-teardown': { by: 'worker', isLate: true },
  'teardown-failed': { by: 'worker', isLate: true },
  unfinished: { by: 'worker', isLate: true },
  log: { by: 'worker', isLate: true },
  asked: { by: 'worker', isLate: true },
  profile: { by: 'worker', isLate: true },
  done: { by: 'tasks', isLate: true },
  failed: { by: 'tasks', isLate: true },
  'from-task': { by: 'tasks', isLate: true },
  'task-list': { by: 'tasks' },
  'task-ended': { by: 'tasks' },
  measured: { by: 'tasks' },
  pong: { by: 'tasks' },
  unreadable: { by: 'tasks' },
} as const satisfies Record<Exclude<ToHost, Bell>['kind'], Receiver>

type KindsBy<By> = {
  [Kind in keyof typeof receiversOnHost]: (typeof receiversOnHost)[Kind]['by'] extends By ? Kind : never
}[keyof typeof receiversOnHost]
export type MessageOfWorker = Extract<ToHost, { kind: KindsBy<'worker'> }>
export type MessageOfTasks = Extract<ToHost, { kind: KindsBy<'tasks'> }>

/** Who receives each kind of message in the worker: the part that runs its tasks, or its life. */
export const receiversInWorker = {
  run: 'tasks',
  'register-handler': 'tasks',
  resource: 'tasks',
  cancel: 'tasks',
  'to-task': 'tasks',
  heard: 'tasks',
  ping: 'tasks',
  'list-tasks': 'tasks',
  'log-level': 'life',
  ask: 'life',
  leave: 'life',
  stop: 'life',
  exit: 'life',
  profile: 'life',
} as const satisfies Record<Exclude<ToWorker, Bell>['kind'], 'tasks' | 'life'>

type KindsInWorker<By> = {
  [Kind in keyof typeof receiversInWorker]: (typeof receiversInWorker)[Kind] extends By ? Kind : never
}[keyof typeof receiversInWorker]
export type MessageToTasks = Bell | Extract<ToWorker, { kind: KindsInWorker<'tasks'> }>
export type MessageOfLife = Extract<ToWorker, { kind: KindsInWorker<'life'> }>

type KindOf<Message> = Message extends { kind: infer Kind } ? Kind : Message

/** The kind of any message. The bell is a string, so it is its own kind. */
export function kindOf<Message extends ToHost | ToWorker>(message: Message): KindOf<Message> {
  return (typeof message === 'string' ? message : message.kind) as KindOf<Message>
}
