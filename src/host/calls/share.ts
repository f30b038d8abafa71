// Makes the handles of shared values, and releases them.
import type { SharedValue } from '../../api/results.js'
import { Handle, Resource } from '../../shared/codec/handle.js'
import { encodeShared, type SharedContent } from '../../shared/codec/shared-bytes.js'
import { NotCloneableError } from '../../shared/errors/pool-errors.js'
import { refusedPath } from '../../shared/errors/uncloneable-path.js'
import { isOnlyForThreads } from '../../shared/messages/hidden-state.js'
import { copyWith, outgoing } from '../../shared/messages/outgoing.js'
import { refuseNodeObject, refuseSharedMemory } from '../../shared/messages/process-values.js'
import { realClock } from '../../shared/platform/clock.js'
import { structuredClone } from '../../shared/platform/node-modules.js'

const collected = new FinalizationRegistry<Resource>(resource => resource.release(realClock.now()))

class SharedHandle extends Handle implements SharedValue {
  readonly #resource: Resource

  constructor(resource: Resource) {
    super(resource)
    this.#resource = resource
    collected.register(this, resource, this)
  }

  release(): void {
    collected.unregister(this)
    this.#resource.release(realClock.now())
  }

  [Symbol.dispose](): void {
    this.release()
  }
}

/** Throws `NotCloneableError`. */
export function share<T>(value: T): T & SharedValue {
  const { memory, objects } = encode(value)
  const resource = new Resource('shared value', isForProcesses => {
    if (!isForProcesses) return { memory, objects }
    refuseObjects(objects)
    // A process gets a copy of the bytes.
    return { memory: new Uint8Array(memory).slice(), objects }
  })
  return new SharedHandle(resource) as unknown as T & SharedValue
}

function refuseObjects([first]: readonly object[]): void {
  if (first === undefined) return
  throw new TypeError(
    `The shared value contains an object of the class ${first.constructor.name}, which cannot leave its process. Use threads, or share plain data.`,
  )
}

function encode(value: unknown): SharedContent & { memory: SharedArrayBuffer } {
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
