// What stops a parser and is no complaint of the parser's: it passes by all who give complaints their words.
import type { Reviver } from './json-text.js'

export class Interruption {
  /** By the reviver; `null`: none was asked, it nests too deep. */
  readonly thrown: { readonly value: unknown } | null

  constructor(thrown: Interruption['thrown']) {
    this.thrown = thrown
  }
}

export function interrupting(revive: Reviver): Reviver {
  return function (this: unknown, ...call) {
    try {
      return Reflect.apply(revive, this, call)
    } catch (value) {
      throw new Interruption({ value })
    }
  }
}
