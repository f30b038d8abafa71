// Problems that no caller receives: the event `error`, or a warning where the program does not listen to it.
interface Emitter {
  listenerCount(name: 'error'): number
  emit(name: 'error', error: unknown): boolean
}

export class Problems {
  readonly #emitter: Emitter
  readonly #warn: (error: unknown) => void
  #hasWarned = false

  /** @param warn called with the first problem without a listener */
  constructor(emitter: Emitter, warn: (error: unknown) => void) {
    this.#emitter = emitter
    this.#warn = warn
  }

  tell(error: unknown): void {
    if (this.#emitter.listenerCount('error') > 0) this.#emitter.emit('error', error)
    else if (!this.#hasWarned) {
      this.#hasWarned = true
      this.#warn(error)
    }
  }
}
