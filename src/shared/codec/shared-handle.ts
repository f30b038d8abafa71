// The handle of a shared value. A payload may contain it anywhere. The codec writes its number. Structured clone turns it into an
// object with the one key `lido:shared`, which the worker replaces.
import { SHARED_MARK } from '../platform/shared-mark.js'

/** What a handle stands for. Does not refer to the handle, so that the handle can be collected. */
export interface SharedState {
  readonly id: number
  readonly memory: SharedArrayBuffer
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

/** The pool that sends something now. */
export const sending = {
  /** `null`: what is sent now must not contain a handle. */
  by: null as SharedUser | null,
  /** When the call was accepted. A call that was accepted before the release may still use the value. */
  acceptedAt: 0,
  /** Records the values that are sent now; `null`: nobody does. */
  uses: null as SharedUses | null,
}

/** Call it before sending what is no payload: a handle in it is then an error. */
export function refuseHandles(): void {
  sending.by = null
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
  const { by, acceptedAt } = sending
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
  sending.uses?.add(state)
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
    const outer = sending.uses
    sending.uses = this
    try {
      return work()
    } finally {
      sending.uses = outer
    }
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
