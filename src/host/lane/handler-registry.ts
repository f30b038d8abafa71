// Numbers for handlers. A task names its handler by number once every worker knows what the number stands for.
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { KnownHandler } from '../../shared/messages/messages.js'

/** Beyond this many, tasks carry the file and the name of their handler. */
const MAX_KNOWN = 1024

export class HandlerRegistry {
  /** The handlers that workers know. New workers are started with this list. */
  readonly known: KnownHandler[] = []
  readonly #isKnown = new Set<number>()
  readonly #numbers = new Map<string, Map<string, number>>()
  #lastNumber = 0
  // Most calls name the handler of the call before.
  #latest: HandlerRef | null = null
  #latestNumber = 0

  numberOf(handler: HandlerRef): number {
    if (handler !== this.#latest) {
      this.#latestNumber = this.#find(handler)
      this.#latest = handler
    }
    return this.#latestNumber
  }

  /** True when a task may name the handler by its number alone. */
  isKnown(handlerId: number): boolean {
    return this.#isKnown.has(handlerId)
  }

  /** From now on a task may name the handler by its number. Every worker must be told before. False: there are too many. */
  add(known: KnownHandler): boolean {
    if (this.known.length >= MAX_KNOWN) return false
    this.known.push(known)
    this.#isKnown.add(known.handlerId)
    return true
  }

  /** The file does not load or has no such function. */
  forget(handler: HandlerRef): void {
    this.#latest = null
    const names = this.#numbers.get(handler.filename)
    if (names?.delete(handler.name) && names.size === 0) this.#numbers.delete(handler.filename)
  }

  #find({ filename, name }: HandlerRef): number {
    let names = this.#numbers.get(filename)
    if (names === undefined) {
      names = new Map()
      this.#numbers.set(filename, names)
    }
    let number = names.get(name)
    if (number === undefined) {
      number = ++this.#lastNumber
      names.set(name, number)
    }
    return number
  }
}
