// The codec for a piece of shared memory: one side encodes into it, the others decode what they find there.
import { Decoder } from '../codec/decoder.js'
import { Dictionary } from '../codec/dictionary.js'
import { Encoder } from '../codec/encoder.js'
import { KnownShapes } from '../codec/known-shapes.js'
import type { Span } from './layout.js'

export interface ValueMemory {
  readonly memory: SharedArrayBuffer
  readonly dictionary: Span
}

export function encoderFor(layout: ValueMemory): Encoder {
  return new Encoder(layout.memory, dictionaryOf(layout))
}

export function decoderFor(layout: ValueMemory): Decoder {
  return new Decoder(layout.memory, new KnownShapes(dictionaryOf(layout)))
}

/** It fits into one word, so it needs no codec. */
export function isInt(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value && !Object.is(value, -0)
}

function dictionaryOf({ memory, dictionary }: ValueMemory): Dictionary {
  return new Dictionary(memory, dictionary.from, dictionary.to)
}
