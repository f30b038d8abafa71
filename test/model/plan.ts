// A case of the model: how many of everything there are, and what is wished of the pool, in order.
export interface TaskTraits {
  /** It has its worker to itself. */
  isAlone?: boolean
  /** Its payload is given away, so it travels by the port. */
  isMoved?: boolean
  /** Its handler answers in a later turn of the worker's event loop. */
  isSlow?: boolean
}

export type Wish = { submit: number } | { cancel: number } | { giveUp: number }

export interface Plan {
  title: string
  workers: number
  slots?: number
  /** Tickets beyond one for each slot. */
  ahead?: number
  tasks: TaskTraits[]
  /** Each row is done in one turn of the host's event loop. */
  wishes: Wish[][]
  /** What the handler of a cancelled task gets to end by itself. Default 0: its worker is ended at once. */
  graceMs?: number
  /** So many workers may die, at any step. */
  deaths?: number
  /** Workers stand above the minimum, and idle ones are ended. */
  retires?: boolean
  /** There is a core to spare: both sides look out for a moment before they sleep. */
  looksOut?: boolean
  /** Where the lane begins to count. */
  firstPosition?: number
  /** Plain accesses are steps of their own. */
  isFine?: boolean
  /** Workers start while the first wishes are done, else they sleep already. */
  startsAwake?: boolean
  /** At most so many times a thread is stopped in the middle of an event, and others go on; without it, every order. */
  switches?: number
}
