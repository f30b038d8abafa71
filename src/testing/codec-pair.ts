// Creates an encoder and a decoder that share one memory and one shape table.
import { Decoder } from '../shared/codec/decoder.js'
import { Encoder } from '../shared/codec/encoder.js'
import { ShapeReader, ShapeTable } from '../shared/codec/shapes.js'

export const BYTES = 2 ** 18

export function openCodec(dictionaryBytes = 4096): {
  encoder: Encoder
  decoder: Decoder
  memory: SharedArrayBuffer
} {
  const memory = new SharedArrayBuffer(BYTES)
  const words = new SharedArrayBuffer(dictionaryBytes)
  return {
    memory,
    encoder: new Encoder(memory, new ShapeTable(words, 0, dictionaryBytes)),
    decoder: new Decoder(memory, new ShapeReader(new ShapeTable(words, 0, dictionaryBytes))),
  }
}
