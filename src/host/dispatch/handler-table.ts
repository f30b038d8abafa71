// Numbers for handlers, so that a task need not carry a file's path to a worker that knows it.
import type { Handler } from '../../shared/protocol/handler.js'

export class HandlerTable {
  readonly #files = new Map<string, Map<string, number>>()
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

  /** For names that led nowhere: what comes from outside must not fill the table. */
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
