// Gives each handler a number. When every worker knows the number, tasks carry it instead of the file and the name.
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { KnownHandler } from '../../shared/messages/messages.js'

/** Tasks of further handlers carry the file and the name. */
const MAX_KNOWN = 1024

export class HandlerRegistry {
  /** The handlers that all workers know. A new worker starts with this list. */
  readonly known: KnownHandler[] = []
  readonly #isKnown = new Set<number>()
  readonly #numbers = new Map<string, Map<string, number>>()
  #lastNumber = 0
  // Most calls use the handler of the call before.
  #latest: HandlerRef | null = null
  #latestNumber = 0

  numberOf(handler: HandlerRef): number {
    if (handler !== this.#latest) {
      this.#latestNumber = this.#find(handler)
      this.#latest = handler
    }
    return this.#latestNumber
  }

  /** True when a task may name the handler by its number. */
  isKnown(handlerId: number): boolean {
    return this.#isKnown.has(handlerId)
  }

  /** The caller must tell every worker before it posts a task with the number. False: too many handlers. */
  add(known: KnownHandler): boolean {
    if (this.known.length >= MAX_KNOWN) return false
    this.known.push(known)
    this.#isKnown.add(known.handlerId)
    return true
  }

  /** Call it when the file does not load or has no such function. The next call gets a new number. */
  forget(handler: HandlerRef): void {
    this.#latest = null
    const names = this.#numbers.get(handler.filename)
    if (names?.delete(keyOf(handler)) && names.size === 0) this.#numbers.delete(handler.filename)
  }

  #find(handler: HandlerRef): number {
    const { filename } = handler
    const key = keyOf(handler)
    let names = this.#numbers.get(filename)
    if (names === undefined) {
      names = new Map()
      this.#numbers.set(filename, names)
    }
    let number = names.get(key)
    if (number === undefined) {
      number = ++this.#lastNumber
      names.set(key, number)
    }
    return number
  }
}

/** The same function has another number for each way in which it is called. */
function keyOf({ name, call, wrapper }: HandlerRef): string {
  return `${call ?? ''} ${wrapper ?? ''} ${name}`
}
