// Creates the encoder and the decoders of a region of shared memory. One thread encodes values, the others decode them.
import { Decoder } from '../codec/decoder.js'
import { Encoder } from '../codec/encoder.js'
import { ShapeReader, ShapeTable } from '../codec/shapes.js'
import type { Span } from './layout.js'

export interface ValueMemory {
  readonly memory: SharedArrayBuffer
  readonly dictionary: Span
}

export function encoderFor(layout: ValueMemory): Encoder {
  return new Encoder(layout.memory, shapeTableOf(layout))
}

export function decoderFor(layout: ValueMemory): Decoder {
  return new Decoder(layout.memory, shapeReaderFor(layout))
}

export function shapeReaderFor(layout: ValueMemory): ShapeReader {
  return new ShapeReader(shapeTableOf(layout))
}

/** True for a number that fits into one word, so it needs no codec. */
export function isInt(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value && !Object.is(value, -0)
}

function shapeTableOf({ memory, dictionary }: ValueMemory): ShapeTable {
  return new ShapeTable(memory, dictionary.from, dictionary.to)
}
