// A decoder's side of shapes: what the dictionary says, read as far as messages have asked for it.
import { CorruptMessageError } from './corrupt-message-error.js'
import { type Dictionary, MOST_SHAPES } from './dictionary.js'
import { generateReader, type ReadObject } from './generated-code.js'

/** Code is made for a shape that has been read so often. */
const USES_BEFORE_CODE = 8

export class KnownShape {
  readonly keys: readonly string[]
  read: ReadObject | undefined
  #uses = 0

  constructor(keys: readonly string[]) {
    this.keys = keys
  }

  countUse(): void {
    if (++this.#uses === USES_BEFORE_CODE) this.read = generateReader(this.keys)
  }
}

export class KnownShapes {
  readonly #dictionary: Dictionary
  readonly #shapes: KnownShape[] = []

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary
  }

  get(number: number): KnownShape {
    const shape = this.#shapes[number]
    if (shape !== undefined) return shape
    if (number >= MOST_SHAPES) throw new CorruptMessageError('it names a shape beyond the last')
    const shapes = this.#shapes
    while (shapes.length <= number) shapes[shapes.length] = new KnownShape(this.#dictionary.next())
    return shapes[number]!
  }
}
