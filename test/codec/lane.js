// One direction of a lane: memory for messages and a shape table, written by one thread.

import { Decoder } from '../../build/unit/src/shared/codec/decoder.js'
import { Encoder } from '../../build/unit/src/shared/codec/encoder.js'
import { ShapeReader, ShapeTable } from '../../build/unit/src/shared/codec/shapes.js'

export { DECLINED, NO_ROOM } from '../../build/unit/src/shared/codec/encoder.js'
export { CorruptMessageError } from '../../build/unit/src/shared/codec/format.js'

export function allocateLane(messageBytes = 2 ** 20, tableBytes = 2 ** 14) {
  return { memory: new SharedArrayBuffer(messageBytes), table: new SharedArrayBuffer(tableBytes) }
}

export function writerOf({ memory, table }) {
  return new Encoder(memory, new ShapeTable(table, 0, table.byteLength))
}

export function readerOf(lane) {
  return new Decoder(lane.memory, shapesOf(lane))
}

export function shapesOf({ table }) {
  return new ShapeReader(new ShapeTable(table, 0, table.byteLength))
}

export const alignUp = at => (at + 7) & ~7
