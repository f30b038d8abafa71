// A case of the model: how many workers, slots and tasks there are, and what the pool is asked for, in order.
export interface TaskTraits {
  /** The task runs alone on its worker. */
  isExclusive?: boolean
  /** The payload is moved to the worker, so the task is sent by message and cannot be posted again. */
  isMoved?: boolean
  /** The codec declines the payload, so the task is sent by message. */
  isDeclined?: boolean
  /** The payload cannot be sent at all. */
  isUnsendable?: boolean
  /** The handler answers in a later turn of the worker's event loop. */
  isSlow?: boolean
}

export type Request = { submit: number } | { cancel: number } | { giveUp: number } | { leave: number }

export interface Plan {
  title: string
  workers: number
  slots?: number
  /** Tickets beyond one for each slot. */
  ahead?: number
  tasks: TaskTraits[]
  /** The host carries out each row in one turn of its event loop. */
  requests: Request[][]
  /** How long the handler of a cancelled task may go on. Default 0: the host ends its worker at once. */
  graceMs?: number
  /** How many workers may die, at any step. */
  deaths?: number
  /** There are more workers than the minimum, and the host ends idle ones. */
  retires?: boolean
  /** A core is spare: both sides busy-wait for a moment before they sleep. */
  busyWaits?: boolean
  /** Default: shared memory. `pipe`: the workers are processes, so the host moves their tickets. */
  transport?: 'messages' | 'pipe'
  /** The position where the queue begins. */
  firstPosition?: number
  /** Plain accesses to memory are steps too. */
  isFine?: boolean
  /** The workers start while the host carries out the first requests. Otherwise they sleep already. */
  startsAwake?: boolean
  /** How often a thread may be stopped in the middle of an event while others go on. Default: any number of times. */
  switches?: number
}
