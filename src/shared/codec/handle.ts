// A handle stands for a resource: something that workers get once, before the first payload that names it. A payload may contain the
// handle anywhere. The codec writes the number of the resource. Structured clone turns a handle into an object with the one key
// `lido:handle`, which the worker replaces.
import { HANDLE_MARK } from '../platform/handle-mark.js'

let lastId = 0

/** Does not refer to the handle, so that the handle can be collected. */
export class Resource {
  readonly id: number = ++lastId
  /** What it is, for error messages: `shared value`. */
  readonly #noun: string
  /** What a worker gets. Throws when it cannot be sent to a process. */
  readonly contentFor: (isForProcesses: boolean) => unknown
  /** The pools whose workers have it. */
  readonly users = new Set<ResourceUser>()
  /** On the clock of the host. `Infinity`: not released. */
  releasedAt: number = Number.POSITIVE_INFINITY

  constructor(noun: string, contentFor: (isForProcesses: boolean) => unknown) {
    this.#noun = noun
    this.contentFor = contentFor
  }

  get isReleased(): boolean {
    return this.releasedAt !== Number.POSITIVE_INFINITY
  }

  release(now: number): void {
    if (this.isReleased) return
    this.releasedAt = now
    for (const user of [...this.users]) user.onReleased(this)
  }

  /** Returns the number. Tells the pool that sends now that its workers need the resource. Throws when it may not be sent. */
  use(): number {
    const { by, acceptedAt, uses } = current
    if (by === null) {
      throw new TypeError(
        `A ${this.#noun} can be sent only in a payload or in workerData. Put it into the payload of the call.`,
      )
    }
    if (this.releasedAt < acceptedAt) {
      throw new TypeError(
        `The ${this.#noun} was released. Release it after the last call that uses it, or share it again.`,
      )
    }
    uses?.add(this)
    by.onUse(this)
    return this.id
  }
}

/** The part of a pool that gives resources to its workers. */
export interface ResourceUser {
  onUse(resource: Resource): void
  onReleased(resource: Resource): void
}

/** What is sent now. A getter of a value may send another value, for another pool, so scopes are nested. */
interface SendingScope {
  /** `null`: the value is no payload, so a handle in it is an error. */
  readonly by: ResourceUser | null
  /** When the call was accepted. A call that was accepted before the release may still use the resource. */
  readonly acceptedAt: number
  /** Records the resources that are sent; `null`: nobody does. */
  uses: ResourceUses | null
}

const OUTSIDE: SendingScope = { by: null, acceptedAt: 0, uses: null }
let current = OUTSIDE

/** Sends a value for a pool. With `null`, the value is no payload: a handle in it is then an error. */
export function sendAs<T>(by: ResourceUser | null, acceptedAt: number, send: () => T): T {
  const outer = enterSending(by, acceptedAt)
  try {
    return send()
  } finally {
    leaveSending(outer)
  }
}

/** As `sendAs()`, for code that cannot throw and runs for each task. Returns the scope to return to. */
export function enterSending(by: ResourceUser | null, acceptedAt: number): SendingScope {
  const outer = current
  current = { by, acceptedAt, uses: null }
  return outer
}

export function leaveSending(outer: SendingScope): void {
  current = outer
}

/** Starts a worker before its pool exists. The pool checks the handles in `workerData` later. */
export function sendBeforePool(start: () => void): void {
  sendAs({ onUse() {}, onReleased() {} }, Number.NEGATIVE_INFINITY, start)
}

export class Handle {
  readonly #resource: Resource

  constructor(resource: Resource) {
    this.#resource = resource
    // An own property, because structured clone reads no others.
    Object.defineProperty(this, HANDLE_MARK, { enumerable: true, get: () => this.read() })
  }

  /** As `Resource.use()`. */
  read(): number {
    return this.#resource.use()
  }
}

/** The resources in a payload that is taken before its call is accepted. */
export class ResourceUses {
  readonly #resources = new Set<Resource>()

  add(resource: Resource): void {
    this.#resources.add(resource)
  }

  recordDuring<T>(work: () => T): T {
    current.uses = this
    return work()
  }

  /** Tells the pool that sends now about the same resources. Throws when one may not be sent any more. */
  repeat(): void {
    for (const resource of this.#resources) resource.use()
  }
}

/** The number in a cloned handle; `undefined` for any other object. */
export function clonedIdOf(value: object): number | undefined {
  if (!Object.hasOwn(value, HANDLE_MARK) || Object.keys(value).length > 1) return undefined
  const id = (value as { readonly [HANDLE_MARK]: unknown })[HANDLE_MARK]
  return typeof id === 'number' ? id : undefined
}
