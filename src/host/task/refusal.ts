// What a promise is resolved with to be rejected, a microtask later. So a task keeps one of its promise's two functions, and
// takes 64 bytes less while it waits.

export class Refusal {
  readonly #reason: unknown

  constructor(reason: unknown) {
    this.#reason = reason
  }

  then(_resolve: unknown, reject: (reason: unknown) => void): void {
    reject(this.#reason)
  }
}
