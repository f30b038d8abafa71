// The shared values that this pool uses. Each worker gets the memory of a value once, before the first task that uses it. After the
// release, workers keep it until the tasks that were accepted before have settled, and as long as later workers need it.
import {
  clonedIdOf,
  SharedHandle,
  type SharedState,
  type SharedUser,
  sendAs,
} from '../../shared/codec/shared-handle.js'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { messageOf } from '../../shared/errors/serialize-error.js'
import type { KnownShared, ToWorker } from '../../shared/messages/messages.js'
import type { Task } from '../task/task.js'

/** Starts a worker ahead of its pool. The pool itself looks at the handles in `workerData` later. */
export function startingAhead(start: () => void): void {
  sendAs({ onUse() {}, onReleased() {} }, Number.NEGATIVE_INFINITY, start)
}

interface Used {
  readonly state: SharedState
  /** How many of these contain the value: `workerData`, the calls at the start of workers. */
  holds: number
  /** Set at the release: when it was, and how many tasks that were accepted before have not settled. */
  releasedAt: number
  tasks: number
}

export class SharedValues implements SharedUser {
  readonly #used = new Map<number, Used>()
  readonly #releasing = new Set<Used>()
  readonly #isForProcesses: boolean
  readonly #tellWorkers: (message: ToWorker) => void
  readonly #now: () => number
  readonly #pendingTasks: () => number

  constructor(
    isForProcesses: boolean,
    tellWorkers: (message: ToWorker) => void,
    now: () => number,
    pendingTasks: () => number,
  ) {
    this.#isForProcesses = isForProcesses
    this.#tellWorkers = tellWorkers
    this.#now = now
    this.#pendingTasks = pendingTasks
  }

  /** The values that all workers know. A new worker starts with this list. */
  get known(): KnownShared[] {
    return Array.from(this.#used.values(), ({ state }) => this.#forWorkers(state))
  }

  /** Encodes or sends a payload. */
  send<T>(acceptedAt: number, send: () => T): T {
    return sendAs(this, acceptedAt, send)
  }

  onUse(state: SharedState): void {
    const { id, objects, users } = state
    if (this.#used.has(id)) return
    const [first] = objects
    if (this.#isForProcesses && first !== undefined) {
      throw new TypeError(
        `The shared value contains an object of the class ${first.constructor.name}, which cannot leave its process. Use threads, or share plain data.`,
      )
    }
    this.#used.set(id, { state, holds: 0, releasedAt: 0, tasks: 0 })
    users.add(this)
    this.#tellWorkers({ kind: 'share', ...this.#forWorkers(state) })
    // The task was accepted before the release, and is sent only now.
    if (state.releasedAt !== Number.POSITIVE_INFINITY) this.onReleased(state)
  }

  /** Keeps the values of the option `workerData`. Throws `InvalidOptionError` for a released value. */
  holdWorkerData(workerData: unknown): void {
    try {
      this.send(this.#now(), () => this.hold(workerData))
    } catch (failure) {
      throw new InvalidOptionError(
        'workerData',
        `The option 'workerData' cannot be sent. ${messageOf(failure)}`,
      )
    }
  }

  /**
   * Keeps the values in plain objects, arrays, maps and sets, because later workers need them. The value may be a clone, which
   * contains clones of the handles. Returns a function that ends it.
   */
  hold(value: unknown): () => void {
    const held: Used[] = []
    for (const id of idsIn(value)) {
      const used = this.#used.get(id)
      if (used === undefined) continue
      used.holds++
      held.push(used)
    }
    return () => {
      for (const used of held.splice(0)) {
        used.holds--
        if (used.state.releasedAt !== Number.POSITIVE_INFINITY) this.onReleased(used.state)
      }
    }
  }

  onReleased({ id }: SharedState): void {
    const used = this.#used.get(id)
    if (used === undefined || used.holds > 0) return
    used.releasedAt = this.#now()
    used.tasks = this.#pendingTasks()
    if (used.tasks === 0) this.#forget(used)
    else this.#releasing.add(used)
  }

  get isReleasing(): boolean {
    return this.#releasing.size > 0
  }

  onSettled(task: Task): void {
    for (const used of this.#releasing) {
      if (task.createdAt > used.releasedAt || --used.tasks > 0) continue
      this.#forget(used)
    }
  }

  /** Call it when the pool is closed. A handle that lives on must not keep the pool in memory. */
  end(): void {
    for (const { state } of this.#used.values()) state.users.delete(this)
    this.#used.clear()
    this.#releasing.clear()
  }

  /** A process gets a copy of the bytes. */
  #forWorkers({ id, memory, objects }: SharedState): KnownShared {
    return { id, memory: this.#isForProcesses ? new Uint8Array(memory).slice() : memory, objects }
  }

  #forget(used: Used): void {
    const { id, users } = used.state
    this.#releasing.delete(used)
    this.#used.delete(id)
    users.delete(this)
    this.#tellWorkers({ kind: 'unshare', id })
  }
}

/** The numbers of the handles, and of the clones of handles, in a value. */
function idsIn(root: unknown): Set<number> {
  const ids = new Set<number>()
  const seen = new Set<object>()
  const left = [root]
  while (left.length > 0) {
    const value = left.pop()
    if (value === null || typeof value !== 'object' || seen.has(value)) continue
    seen.add(value)
    const id = value instanceof SharedHandle ? value.read() : clonedIdOf(value)
    if (id !== undefined) ids.add(id)
    else for (const member of membersOf(value)) left.push(member)
  }
  return ids
}

function membersOf(value: object): Iterable<unknown> {
  if (value instanceof Map) return [...value.keys(), ...value.values()]
  if (value instanceof Set || Array.isArray(value)) return value
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return []
  // A getter may throw, and is read when the value is sent.
  return Object.values(Object.getOwnPropertyDescriptors(value)).map(({ value: member }) => member)
}
