// Makes the handles of shared values, and releases them.
import type { SharedValue } from '../../api/results.js'
import { encodeShared } from '../../shared/codec/shared-bytes.js'
import { SharedHandle, type SharedState } from '../../shared/codec/shared-handle.js'
import { NotCloneableError } from '../../shared/errors/pool-errors.js'
import { refusedPath } from '../../shared/errors/uncloneable-path.js'
import { isOnlyForThreads } from '../../shared/messages/hidden-state.js'
import { copyWith, outgoing } from '../../shared/messages/outgoing.js'
import { refuseNodeObject, refuseSharedMemory } from '../../shared/messages/process-values.js'
import { realClock } from '../../shared/platform/clock.js'
import { structuredClone } from '../../shared/platform/node-modules.js'

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
  const state: SharedState = {
    id: ++lastId,
    ...encode(value),
    releasedAt: Number.POSITIVE_INFINITY,
    users: new Set(),
  }
  const handle = new Handle(state)
  collected.register(handle, state, handle)
  return handle as unknown as T & SharedValue
}

function encode(value: unknown): Pick<SharedState, 'memory' | 'objects'> {
  /** The views that stand for the objects in the encoded value. */
  const places = new Map<object, DataView>()
  try {
    outgoing(value, [], member => {
      refuseSharedMemory(member, 'cannot be shared. Share a typed array of it.')
      if (isOnlyForThreads(member)) places.set(member, new DataView(new ArrayBuffer(0)))
      else refuseNodeObject(member)
    })
    if (places.size === 0) return { memory: encodeShared(value), objects: [] }
    const encodable = copyWith(value as object, member => {
      const place = places.get(member)
      return place && { value: place }
    })
    const indexes = new Map(Array.from(places.values(), (place, index) => [place, index]))
    const objects: object[] = structuredClone([...places.keys()])
    return { memory: encodeShared(encodable, indexes), objects }
  } catch (failure) {
    throw new NotCloneableError(refusedPath(failure, value, 'value'), failure)
  }
}
