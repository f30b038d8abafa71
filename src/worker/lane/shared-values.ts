// The shared values of this worker. Each is decoded at its first use, and kept until the host releases it.
import { decodeShared } from '../../shared/codec/shared-bytes.js'
import { clonedIdOf } from '../../shared/codec/shared-handle.js'
import type { KnownShared } from '../../shared/messages/messages.js'
import { globalSymbol } from '../../shared/platform/global-symbol.js'

interface Entry {
  memory: ArrayBufferLike | null
  objects: readonly object[]
  value: unknown
}

export class WorkerSharedValues {
  readonly #entries = new Map<number, Entry>()

  add({ id, memory, objects }: KnownShared): void {
    // The bytes of a message between processes may begin anywhere, and views need an aligned begin.
    const own = memory instanceof Uint8Array ? new Uint8Array(memory).buffer : memory
    this.#entries.set(id, { memory: own, objects, value: undefined })
    // For `workerData` of `lido/worker`.
    Object.defineProperty(globalThis, replaceKey, {
      value: (given: unknown) => this.replaceIn(given),
      configurable: true,
    })
  }

  delete(id: number): void {
    this.#entries.delete(id)
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  has(id: number): boolean {
    return this.#entries.has(id)
  }

  valueOf(id: number): unknown {
    const entry = this.#entries.get(id)!
    if (entry.memory !== null) {
      entry.value = decodeShared(entry.memory, entry.objects)
      entry.memory = null
      entry.objects = []
    }
    return entry.value
  }

  /** For a value that came by message: replaces the clones of handles by the shared values. */
  replaceIn(value: unknown, seen = new Set<object>()): unknown {
    if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value
    const id = clonedIdOf(value)
    if (id !== undefined && this.has(id)) return this.valueOf(id)
    if (seen.has(value)) return value
    seen.add(value)
    if (value instanceof Map) this.#replaceInMap(value, seen)
    else if (value instanceof Set) this.#replaceInSet(value, seen)
    else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) {
      const fields = value as Record<string, unknown>
      for (const key of Object.keys(fields)) {
        const member = fields[key]
        const replaced = this.replaceIn(member, seen)
        if (replaced !== member) fields[key] = replaced
      }
    }
    return value
  }

  #replaceInMap(map: Map<unknown, unknown>, seen: Set<object>): void {
    const entries = [...map].map(([key, member]) => [this.replaceIn(key, seen), this.replaceIn(member, seen)])
    map.clear()
    for (const [key, member] of entries) map.set(key, member)
  }

  #replaceInSet(set: Set<unknown>, seen: Set<object>): void {
    const members = [...set].map(member => this.replaceIn(member, seen))
    set.clear()
    for (const member of members) set.add(member)
  }
}

/** The key of the function that replaces handles in `workerData`. */
export const replaceKey = globalSymbol('replaceShared')
