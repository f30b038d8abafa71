// Makes the handles of shared values, and releases them.
import { encodeShared } from '../../shared/codec/shared-bytes.js'
import { SharedHandle, type SharedState } from '../../shared/codec/shared-handle.js'
import { NotCloneableError } from '../../shared/errors/pool-errors.js'
import { memberPath, UnsendableMember, uncloneablePath } from '../../shared/errors/uncloneable-path.js'
import { outgoing } from '../../shared/messages/outgoing.js'
import { cloneSymbol, refuseNodeObject, refuseSharedMemory } from '../../shared/messages/process-values.js'
import { realClock } from '../../shared/platform/clock.js'

/** The handle of a shared value. Its type is also that of the value, because the handler receives the value. */
export interface SharedValue {
  /**
   * Frees the memory of the value, in the workers too, when the calls that were made before have settled. A later call whose payload
   * contains the handle rejects with `NotCloneableError`. Calling it again does nothing.
   */
  release(): void
  [Symbol.dispose](): void
}

let lastId = 0
const collected = new FinalizationRegistry<SharedState>(release)

function release(state: SharedState): void {
  if (state.releasedAt !== Number.POSITIVE_INFINITY) return
  state.releasedAt = realClock.now()
  for (const user of [...state.users]) user.onReleased(state)
}

class Handle extends SharedHandle implements SharedValue {
  release(): void {
    collected.unregister(this)
    release(this.state)
  }

  [Symbol.dispose](): void {
    this.release()
  }
}

/** Throws `NotCloneableError`. */
export function share<T>(value: T): T & SharedValue {
  const memory = encode(value)
  const state: SharedState = { id: ++lastId, memory, releasedAt: Number.POSITIVE_INFINITY, users: new Set() }
  const handle = new Handle(state)
  collected.register(handle, state, handle)
  return handle as unknown as T & SharedValue
}

function encode(value: unknown): SharedArrayBuffer {
  try {
    const mark = cloneSymbol()
    outgoing(value, [], member => {
      refuseNodeObject(member, mark)
      refuseSharedMemory(member, 'cannot be shared. Share a typed array of it.')
    })
    return encodeShared(value)
  } catch (failure) {
    const path =
      failure instanceof UnsendableMember
        ? memberPath(value, failure.member, 'value')
        : uncloneablePath(value, 'value')
    throw new NotCloneableError(path, failure)
  }
}
