// The resources of this worker, which payloads name by number. All are shared values so far. Each is decoded at its first use, and kept until
// the host says that no payload names it any more.
import { clonedIdOf } from '../../shared/codec/handle.js'
import { decodeShared, type SharedContent } from '../../shared/codec/shared-bytes.js'
import type { KnownResource } from '../../shared/messages/messages.js'
import { globalSymbol } from '../../shared/platform/global-symbol.js'

interface Entry {
  /** `null`: it is decoded. */
  content: unknown
  value: unknown
}

export class WorkerResources {
  readonly #entries = new Map<number, Entry>()

  set({ id, content }: KnownResource): void {
    if (content === null) return void this.#entries.delete(id)
    this.#entries.set(id, { content, value: undefined })
    // For `workerData` of `lido/worker`.
    Object.defineProperty(globalThis, replaceKey, {
      value: (given: unknown) => this.replaceIn(given),
      configurable: true,
    })
  }

  has(id: number): boolean {
    return this.#entries.has(id)
  }

  valueOf(id: number): unknown {
    const entry = this.#entries.get(id)!
    if (entry.content !== null) {
      entry.value = decodeShared(entry.content as SharedContent)
      entry.content = null
    }
    return entry.value
  }

  /** For a value that came by message: replaces the clones of handles by what they stand for. */
  replaceIn(value: unknown): unknown {
    return this.#entries.size === 0 ? value : this.#replace(value, new Set())
  }

  #replace(value: unknown, seen: Set<object>): unknown {
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
        const replaced = this.#replace(member, seen)
        if (replaced !== member) fields[key] = replaced
      }
    }
    return value
  }

  #replaceInMap(map: Map<unknown, unknown>, seen: Set<object>): void {
    const entries = [...map].map(([key, member]) => [this.#replace(key, seen), this.#replace(member, seen)])
    map.clear()
    for (const [key, member] of entries) map.set(key, member)
  }

  #replaceInSet(set: Set<unknown>, seen: Set<object>): void {
    const members = [...set].map(member => this.#replace(member, seen))
    set.clear()
    for (const member of members) set.add(member)
  }
}

/** The key of the function that replaces handles in `workerData`. */
const replaceKey = globalSymbol('replaceHandles')
