// What a promise is rejected with by its resolve function: that asks whatever it is given for `then`, and what it throws is
// the reason, at once and as it is (ECMA-262, Promise Resolve Functions). So a task keeps one of its promise's two
// functions, and takes 64 bytes less while it waits.

export class Refusal {
  readonly #reason: unknown

  constructor(reason: unknown) {
    this.#reason = reason
  }

  get then(): never {
    throw this.#reason
  }
}
