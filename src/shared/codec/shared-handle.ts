// The handle of a shared value. A payload may contain it anywhere. The codec writes its number. Structured clone turns it into an
// object with the one key `lido:shared`, which the worker replaces.
import { SHARED_MARK } from '../platform/shared-mark.js'

/** What a handle stands for. Does not refer to the handle, so that the handle can be collected. */
export interface SharedState {
  readonly id: number
  readonly memory: SharedArrayBuffer
  /** Objects of the value that travel beside the memory. */
  readonly objects: readonly object[]
  /** On the clock of the host. `Infinity`: not released. */
  releasedAt: number
  /** The pools whose workers have the value. */
  readonly users: Set<SharedUser>
}

/** The part of a pool that gives shared values to its workers. */
export interface SharedUser {
  onUse(state: SharedState): void
  onReleased(state: SharedState): void
}

/** What is sent now. A getter of a value may send another value, for another pool, so scopes are nested. */
interface SendingScope {
  /** `null`: the value is no payload, so a handle in it is an error. */
  readonly by: SharedUser | null
  /** When the call was accepted. A call that was accepted before the release may still use the value. */
  readonly acceptedAt: number
  /** Records the values that are sent; `null`: nobody does. */
  uses: SharedUses | null
}

const OUTSIDE: SendingScope = { by: null, acceptedAt: 0, uses: null }
let current = OUTSIDE

/** Sends a value for a pool. With `null`, the value is no payload: a handle in it is then an error. */
export function sendAs<T>(by: SharedUser | null, acceptedAt: number, send: () => T): T {
  const outer = enterSending(by, acceptedAt)
  try {
    return send()
  } finally {
    leaveSending(outer)
  }
}

/** As `sendAs()`, for code that cannot throw and runs for each task. Returns the scope to return to. */
export function enterSending(by: SharedUser | null, acceptedAt: number): SendingScope {
  const outer = current
  current = { by, acceptedAt, uses: null }
  return outer
}

export function leaveSending(outer: SendingScope): void {
  current = outer
}

export class SharedHandle {
  readonly #state: SharedState

  constructor(state: SharedState) {
    this.#state = state
    // An own property, because structured clone reads no others.
    Object.defineProperty(this, SHARED_MARK, { enumerable: true, get: () => this.read() })
  }

  protected get state(): SharedState {
    return this.#state
  }

  /** The number of the value. Tells the sending pool that its workers need the value. Throws when the value may not be sent. */
  read(): number {
    return read(this.#state)
  }
}

function read(state: SharedState): number {
  const { by, acceptedAt, uses } = current
  if (by === null) {
    throw new TypeError(
      'A shared value can be sent only in a payload or in workerData. Put it into the payload of the call.',
    )
  }
  if (state.releasedAt < acceptedAt) {
    throw new TypeError(
      'The shared value was released. Release it after the last call that uses it, or share it again.',
    )
  }
  uses?.add(state)
  by.onUse(state)
  return state.id
}

/** The shared values in a payload that is taken before its call is accepted. */
export class SharedUses {
  readonly #states = new Set<SharedState>()

  add(state: SharedState): void {
    this.#states.add(state)
  }

  recordDuring<T>(work: () => T): T {
    current.uses = this
    return work()
  }

  /** Tells the pool that sends now about the same values. Throws when one may not be sent any more. */
  repeat(): void {
    for (const state of this.#states) read(state)
  }
}

/** The number in a cloned handle; `undefined` for any other object. */
export function clonedIdOf(value: object): number | undefined {
  if (!Object.hasOwn(value, SHARED_MARK) || Object.keys(value).length > 1) return undefined
  const id = (value as { readonly [SHARED_MARK]: unknown })[SHARED_MARK]
  return typeof id === 'number' ? id : undefined
}
