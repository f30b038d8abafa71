// A queue as a user writes it for lido: first in, first out, with the optional `unshift`.
export class OwnQueue {
  #tasks = []

  get size() {
    return this.#tasks.length
  }

  push(task) {
    this.#tasks.push(task)
  }

  shift() {
    return this.#tasks.shift() ?? null
  }

  unshift(task) {
    this.#tasks.unshift(task)
  }

  remove(task) {
    const index = this.#tasks.indexOf(task)
    if (index >= 0) this.#tasks.splice(index, 1)
  }
}
