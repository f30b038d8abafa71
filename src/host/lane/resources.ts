// The resources that this pool uses, such as shared values. Each worker gets a resource once, before the first task that uses it. After
// its release, workers keep it until the tasks that were accepted before have settled, and as long as later workers need it.
import { clonedIdOf, Handle, type Resource, type ResourceUser, sendAs } from '../../shared/codec/handle.js'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { messageOf } from '../../shared/errors/serialize-error.js'
import type { KnownResource, ToWorker } from '../../shared/messages/messages.js'
import type { Task } from '../task/task.js'

interface Used {
  readonly resource: Resource
  /** How many of these need it: `workerData`, the calls at the start of workers. */
  holds: number
  /** Set at the release: when it was, and how many tasks that were accepted before have not settled. */
  releasedAt: number
  tasks: number
}

export class Resources implements ResourceUser {
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

  /** What all workers have. A new worker starts with this list. */
  get known(): KnownResource[] {
    return Array.from(this.#used.values(), ({ resource }) => this.#forWorkers(resource))
  }

  /** Encodes or sends a payload. */
  send<T>(acceptedAt: number, send: () => T): T {
    return sendAs(this, acceptedAt, send)
  }

  onUse(resource: Resource): void {
    const { id, users } = resource
    if (this.#used.has(id)) return
    const known = this.#forWorkers(resource)
    this.#used.set(id, { resource, holds: 0, releasedAt: 0, tasks: 0 })
    users.add(this)
    this.#tellWorkers({ kind: 'resource', ...known })
    // The task was accepted before the release, and is sent only now.
    if (resource.isReleased) this.onReleased(resource)
  }

  /** Keeps the resources of the option `workerData`. Throws `InvalidOptionError` for a released one. */
  holdWorkerData(workerData: unknown): void {
    try {
      this.send(this.#now(), () => this.hold(workerData))
    } catch (failure) {
      this.end()
      throw new InvalidOptionError(
        'workerData',
        `The option 'workerData' cannot be sent. ${messageOf(failure)}`,
      )
    }
  }

  /**
   * Keeps the resources whose handles are in plain objects, arrays, maps and sets, because later workers need them. The value may be a
   * clone, which contains clones of the handles. Returns a function that ends it.
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
        if (used.resource.isReleased) this.onReleased(used.resource)
      }
    }
  }

  onReleased({ id }: Resource): void {
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
    for (const { resource } of this.#used.values()) resource.users.delete(this)
    this.#used.clear()
    this.#releasing.clear()
  }

  #forWorkers({ id, contentFor }: Resource): KnownResource {
    return { id, content: contentFor(this.#isForProcesses) }
  }

  #forget(used: Used): void {
    const { id, users } = used.resource
    this.#releasing.delete(used)
    this.#used.delete(id)
    users.delete(this)
    this.#tellWorkers({ kind: 'resource', id, content: null })
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
    const id = value instanceof Handle ? value.read() : clonedIdOf(value)
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
