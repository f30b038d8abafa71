// One direction of memory as the queue will have it: bytes for messages and a dictionary, written by one thread.

import { Decoder } from '../../build/unit/src/shared/codec/decoder.js'
import { Dictionary } from '../../build/unit/src/shared/codec/dictionary.js'
import { Encoder } from '../../build/unit/src/shared/codec/encoder.js'
import { KnownShapes } from '../../build/unit/src/shared/codec/known-shapes.js'

export { CorruptMessageError } from '../../build/unit/src/shared/codec/decoder.js'
export { DECLINED, NO_ROOM } from '../../build/unit/src/shared/codec/encoder.js'

export function allocateLane(messageBytes = 2 ** 20, dictionaryBytes = 2 ** 14) {
  return { memory: new SharedArrayBuffer(messageBytes), words: new SharedArrayBuffer(dictionaryBytes) }
}

export function writerOf({ memory, words }) {
  return new Encoder(memory, new Dictionary(words, 0, words.byteLength))
}

export function readerOf(lane) {
  return new Decoder(lane.memory, shapesOf(lane))
}

export function shapesOf({ words }) {
  return new KnownShapes(new Dictionary(words, 0, words.byteLength))
}

export const alignUp = at => (at + 7) & ~7
