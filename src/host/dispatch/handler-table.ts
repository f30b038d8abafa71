// Numbers for handlers, so that a task need not carry a file's path to a worker that knows it.
import type { Handler } from '../../shared/messages/handler.js'

/** What comes from outside must not fill the table: so many names without an answer are kept when nobody waits for them. */
const MOST_UNPROVEN = 64

interface Numbered extends Handler {
  readonly handlerId: number
}

export class HandlerTable {
  readonly #files = new Map<string, Map<string, number>>()
  /** Of those that have answered no call yet: how many calls are not settled, by number. */
  readonly #unproven = new Map<number, number>()
  #lastId = 0
  // Most calls name the handler of the call before.
  #latest: Handler | null = null
  #latestId = 0

  idOf(handler: Handler): number {
    if (handler !== this.#latest) {
      this.#latestId = this.#find(handler)
      this.#latest = handler
    }
    return this.#latestId
  }

  /** The number for one more call. */
  enter(handler: Handler): number {
    const last = this.#lastId
    const id = this.idOf(handler)
    if (id > last) this.#unproven.set(id, 1)
    else if (this.#unproven.size > 0) {
      const calls = this.#unproven.get(id)
      if (calls !== undefined) this.#unproven.set(id, calls + 1)
    }
    return id
  }

  /** It is there: a worker has answered for it. */
  prove(handlerId: number): void {
    if (this.#unproven.size > 0) this.#unproven.delete(handlerId)
  }

  /** The call is settled. */
  leave(call: Numbered): void {
    if (this.#unproven.size === 0) return
    const calls = this.#unproven.get(call.handlerId)
    if (calls === undefined) return
    this.#unproven.set(call.handlerId, calls - 1)
    if (calls > 1 || this.#unproven.size <= MOST_UNPROVEN) return
    this.#unproven.delete(call.handlerId)
    this.forget(call)
  }

  /** For names that led nowhere. */
  forget(handler: Handler): void {
    this.#latest = null
    const names = this.#files.get(handler.filename)
    if (names?.delete(handler.name) && names.size === 0) this.#files.delete(handler.filename)
  }

  #find(handler: Handler): number {
    let names = this.#files.get(handler.filename)
    if (names === undefined) {
      names = new Map()
      this.#files.set(handler.filename, names)
    }
    let id = names.get(handler.name)
    if (id === undefined) {
      id = ++this.#lastId
      names.set(handler.name, id)
    }
    return id
  }
}
