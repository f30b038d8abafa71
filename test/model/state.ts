// A state of the model is one row of numbers, so that two states are easy to compare. The places of the numbers:
//
//   for each thread   its history · whether it lives · mail from the host to it · mail from it to the host
//   then              deaths that may still happen · the thread of the last step · interruptions so far
//                     tickets that were claimed by a dismissed worker, a bit each · dismissed workers, a bit each
//                     workers that claimed a task after another was sent to them, a bit each
//                     tasks whose handlers have finished, a bit each
//   for each task     which worker has started it · how it was settled
//   for each ticket   the worker that it is addressed to
//   then              the words
export type State = Int32Array

/** Whether a thread lives. A dead thread takes no more steps. Buried: the host knows of the death. */
export const ABSENT = 0
export const ALIVE = 1
export const DOOMED = 2
export const DEAD = 3
export const BURIED = 4

const HISTORY = 0
const LIFE = 1
const INBOX = 2
const OUTBOX = 3
const PER_THREAD = 4

/** The case uses more words than a row has room for. */
export class NoRoom extends Error {}

export class StateRow {
  readonly threads: number
  readonly #tasksFrom: number
  readonly #ticketsFrom: number
  readonly cellsFrom: number
  readonly size: number

  constructor(threads: number, tasks: number, cells: number, tickets = 0) {
    this.threads = threads
    this.#tasksFrom = threads * PER_THREAD + 7
    this.#ticketsFrom = this.#tasksFrom + 2 * (tasks + 1)
    this.cellsFrom = this.#ticketsFrom + tickets
    this.size = this.cellsFrom + cells
  }

  historyOf(thread: number): number {
    return thread * PER_THREAD + HISTORY
  }

  lifeOf(thread: number): number {
    return thread * PER_THREAD + LIFE
  }

  /** Messages of the host to the worker. */
  inboxOf(worker: number): number {
    return worker * PER_THREAD + INBOX
  }

  /** Messages of the worker to the host. */
  outboxOf(worker: number): number {
    return worker * PER_THREAD + OUTBOX
  }

  get deaths(): number {
    return this.threads * PER_THREAD
  }

  get lastThread(): number {
    return this.threads * PER_THREAD + 1
  }

  get switches(): number {
    return this.threads * PER_THREAD + 2
  }

  get lateClaims(): number {
    return this.threads * PER_THREAD + 3
  }

  get dismissed(): number {
    return this.threads * PER_THREAD + 4
  }

  get overtaking(): number {
    return this.threads * PER_THREAD + 5
  }

  get finished(): number {
    return this.threads * PER_THREAD + 6
  }

  startedBy(task: number): number {
    return this.#tasksFrom + 2 * task
  }

  settledAs(task: number): number {
    return this.#tasksFrom + 2 * task + 1
  }

  addressee(ticket: number): number {
    return this.#ticketsFrom + ticket
  }

  cell(number: number): number {
    if (this.cellsFrom + number >= this.size) throw new NoRoom()
    return this.cellsFrom + number
  }
}

export function hashOf(state: State): number {
  let hash = 0
  for (let index = 0; index < state.length; index++) {
    hash = Math.imul(hash ^ state[index]!, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return hash
}
