// Where everything lies in the lane's memory and in a worker's desk: the only file with indices. Words that different
// threads write stand a cache line apart.
import { allocateMemory } from '#atomics'

export { wordsOf } from '#atomics'

const LINE = 16
const LINE_BYTES = LINE * Int32Array.BYTES_PER_ELEMENT

// The lane: one for a pool.
//
//   word       writer                        meaning
//   TAIL       host                          the position that is posted next
//   HEAD       all, by compare-and-swap      no position before it holds a ticket on offer
//   HOST       host; whoever rings it 0      1: the host sleeps and wants a bell, 2: only from who has nothing to do
export const TAIL = 0
export const HEAD = LINE
export const HOST = 2 * LINE
const SIZES = 3 * LINE
const POSITIONS_FROM = 4 * LINE

// A ticket: a line of its own. STATE is moved as `tickets` says; the rest is written by the host before the offer, except
// what is marked.
export const STATE = 0
export const TASK_ID = 1
export const HANDLER_ID = 2
export const FLAGS = 3
export const FROM = 4
export const TO = 5
/** Which worker may claim it; 0: any. */
export const ADDRESSEE = 6
/** An int payload, so that it needs no bytes. */
export const INT = 7
/** Worker, after the answer: it was the so-manieth that this worker sent over its port. 0: it was not. */
export const ORDINAL = 8
/** When it began, of a task whose time is limited: worker, after it has; host 0, before the offer. */
export const BEGUN_AT = 9

// The desk: one for a worker.
//
//   word        writer                                                  meaning
//   REST        worker, and host from PARKED, by compare-and-swap;      see `doorbell`
//               host RETIRED
//   HELD        worker                                                  tasks it has claimed and not answered
//   ALLOWED     host                                                    1: it may spin
//   WRITTEN     worker                                                  bytes published in its ring, since its start
//   READ        host                                                    bytes of these that are free again
export const REST = 0
export const HELD = 1
export const ALLOWED = LINE
export const WRITTEN = 2 * LINE
export const READ = 3 * LINE
const RING_FROM_BYTES = 4 * LINE_BYTES

// A record in a ring: words, then bytes of its value.
export const RECORD_BYTES = 32
/** How many bytes to the next record. */
export const SIZE = 0
export const KIND = 1
export const TICKET = 2
export const TASK = 3
/** An int, or how many bytes the value has. */
export const VALUE = 4
/** As a float: how long the handler ran, in milliseconds. */
export const RUN_MS = 5
/** In floats of 64 bits: when it began, on the host's clock. */
export const STARTED_AT = 3

/** Room for values in the lane: the tasks' payloads. Reserved at once, used from its beginning as need be. */
const PAYLOAD_BYTES = 4 * 2 ** 20
const DICTIONARY_BYTES = 64 * 2 ** 10
/** A power of two: positions follow each other round and round. */
const RING_BYTES = 4 * 2 ** 20

/** The largest value that travels in the lane, either way. */
export const LARGEST_VALUE_BYTES = 512 * 2 ** 10

export interface Span {
  readonly from: number
  readonly to: number
}

export interface LaneLayout {
  readonly memory: SharedArrayBuffer
  readonly tickets: number
  /** A power of two. */
  readonly positions: number
  readonly positionsFrom: number
  readonly ticketsFrom: number
  readonly payloads: Span
  readonly dictionary: Span
}

export interface DeskLayout {
  readonly memory: SharedArrayBuffer
  readonly ring: Span
  readonly dictionary: Span
}

/** Twice as many positions as tickets: a cancelled ticket leaves its position behind until a worker has passed it. */
export function createLane(tickets: number, payloadBytes = PAYLOAD_BYTES): LaneLayout {
  const positions = 2 ** Math.ceil(Math.log2(2 * tickets))
  const bytes = laneBytes(tickets, positions) + DICTIONARY_BYTES + payloadBytes
  const memory = allocateMemory(bytes)
  const sizes = new Int32Array(memory)
  sizes[SIZES] = tickets
  sizes[SIZES + 1] = positions
  return laneIn(memory)
}

export function laneIn(memory: SharedArrayBuffer): LaneLayout {
  const sizes = new Int32Array(memory)
  const tickets = sizes[SIZES]!
  const positions = sizes[SIZES + 1]!
  const dictionaryFrom = laneBytes(tickets, positions)
  return {
    memory,
    tickets,
    positions,
    positionsFrom: POSITIONS_FROM,
    ticketsFrom: POSITIONS_FROM + positions,
    dictionary: { from: dictionaryFrom, to: dictionaryFrom + DICTIONARY_BYTES },
    payloads: { from: dictionaryFrom + DICTIONARY_BYTES, to: memory.byteLength },
  }
}

export function createDesk(): DeskLayout {
  return deskIn(allocateMemory(RING_FROM_BYTES + RING_BYTES + DICTIONARY_BYTES))
}

export function deskIn(memory: SharedArrayBuffer): DeskLayout {
  const ringTo = RING_FROM_BYTES + RING_BYTES
  return {
    memory,
    ring: { from: RING_FROM_BYTES, to: ringTo },
    dictionary: { from: ringTo, to: memory.byteLength },
  }
}

/** The first word of a ticket. */
export function ticketAt(layout: LaneLayout, ticket: number): number {
  return layout.ticketsFrom + ticket * LINE
}

function laneBytes(tickets: number, positions: number): number {
  return (POSITIONS_FROM + positions + tickets * LINE) * Int32Array.BYTES_PER_ELEMENT
}
