// What the host and the workers of lido/workerpool tell each other, and the functions that a worker offers to its script.

export interface WorkerOrder {
  /** The program's script. `null`: the worker runs only functions that the program sends. */
  script: string | null
  /** The program's own `workerData`. */
  workerData: unknown
  /** Parameters and results are converted to JSON and back, as by the channel of a process. */
  isJson: boolean
  /** Gives the output to the caller's listener in place of printing it. */
  emitsOutput: boolean
}

export interface TaskOrder {
  method: string
  params: unknown[]
  /** The number of the caller's listener for events; 0: none. */
  listenerId: number
}

/** An event of an aborted task, by the channel for messages of the program: the calls of a cancelled task end with it. */
export interface LateEvent {
  [EVENT]: number
  payload?: unknown
  /** The abort listeners have finished, so no event follows. */
  isLast: boolean
}

/** The function of the host that gets the events of a task. */
export const EVENT = 'workerpool.event'

export type Method = (...params: any[]) => any

/** The options of `worker()`. */
export interface WorkerRegisterOptions {
  /** Called before the worker ends. */
  onTerminate?: (code: number | undefined) => PromiseLike<void> | void
  /** Milliseconds that abort listeners may take. Default 1,000. */
  abortListenerTimeout?: number
}

/** The part of a worker that `worker()` and `workerEmit()` use. */
export interface WorkerSide {
  register(methods?: Record<string, Method>, options?: WorkerRegisterOptions): void
  emit(payload: unknown): void
}

/** The key of the `WorkerSide` in `globalThis`. The script may load another copy of this package. */
export const workerSide: unique symbol = Symbol.for('lido.workerpool') as never

/** Parts of a value that are transferred, not copied. */
export class Transfer {
  message: any
  transfer: any[]

  constructor(message: any, transfer: any[]) {
    this.message = message
    this.transfer = transfer
    Object.defineProperty(this, isTransferMark, { value: true })
  }
}

const isTransferMark = Symbol.for('lido.workerpool.transfer')

export function isTransfer(value: any): value is Transfer {
  return value !== null && typeof value === 'object' && value[isTransferMark] === true
}

/** The value that JSON makes of a parameter or a result. */
export function throughJson<T>(value: T): T {
  return (JSON.parse(JSON.stringify({ value })) as { value: T }).value
}
