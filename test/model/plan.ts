// A case of the model: the number of workers, slots and tasks, and the requests to the pool, in order.
export interface TaskTraits {
  /** The task runs alone on its worker. */
  isExclusive?: boolean
  /** The payload is moved to the worker, so the task is sent by message and cannot be posted again. */
  isMoved?: boolean
  /** The codec declines the payload, so the task is sent by message. */
  isDeclined?: boolean
  /** The payload cannot be sent at all. */
  isUnsendable?: boolean
  /** The task prefers the worker that ran this key last. */
  key?: string
  /** The handler answers in a later turn of the worker's event loop. */
  isSlow?: boolean
  /** The handler calls a function of its caller. The function submits the task of this number and waits for it. */
  asksFor?: number
}

export type Request = { submit: number } | { cancel: number } | { kill: number } | { leave: number }

export interface Plan {
  title: string
  workers: number
  slots?: number
  /** Tickets beyond one for each slot. */
  ahead?: number
  tasks: TaskTraits[]
  /** The host carries out each row in one turn of its event loop. */
  requests: Request[][]
  /** How long the handler of a cancelled task may continue. Default 0: the host kills its worker at once. */
  graceMs?: number
  /** How many workers may die, at any step. */
  deaths?: number
  /** There are more workers than the minimum, and the host stops idle workers. */
  retires?: boolean
  /** A core is free, so host and workers busy-wait before they sleep. */
  busyWaits?: boolean
  /** Default: shared memory. `pipe`: the workers are processes, so the host moves their tickets. */
  transport?: 'messages' | 'pipe'
  /** The position where the queue begins. */
  firstPosition?: number
  /** Plain accesses to memory are steps too. */
  isFine?: boolean
  /** The workers start while the host carries out the first requests. Otherwise they sleep already. */
  startsAwake?: boolean
  /** How often a thread may be interrupted in the middle of an event by other threads. Default: any number of times. */
  switches?: number
}
