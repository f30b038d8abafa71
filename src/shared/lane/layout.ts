// The layout of all memory that the host shares with its workers. Only this file defines indices. Words that different
// threads write are in different cache lines.
import { allocateMemory } from '#atomics'

export { wordsOf } from '#atomics'

const LINE = 16
const LINE_BYTES = LINE * Int32Array.BYTES_PER_ELEMENT

// The lane: one for each pool.
//
//   word       written by                       meaning
//   TAIL       host                             the next position that the host will post
//   HEAD       all, by compare-and-swap         no position before it has an offered ticket
//   HOST       host; a ringing worker writes 0  1: the host sleeps until a bell. 2: it rests, see `doorbell.ts`
export const TAIL = 0
export const HEAD = LINE
export const HOST = 2 * LINE
const SIZES = 3 * LINE
const POSITIONS_FROM = 4 * LINE

// A ticket: one cache line. `ticket.ts` lists the moves of STATE. The host writes the other words before it posts the
// ticket, except STARTED_AT.
export const STATE = 0
export const TASK_ID = 1
export const HANDLER_ID = 2
export const FLAGS = 3
export const FROM = 4
export const TO = 5
/** A payload that is an int. It needs no bytes in the arena. */
export const INT = 6
/** The start time (timestamp32) of a task with a time limit. The host writes 0, later the worker writes the time. */
export const STARTED_AT = 7
/** The end of the carried values, with `HAS_CARRIER`. They start after the payload, at `carrierFrom()`. */
export const CARRIER_TO = 8
/** With `IS_TIMED`: the milliseconds that the handler may run, and the deadline (timestamp32). 0: no limit. */
export const TIMEOUT_MS = 9
export const DEADLINE = 10

// The shared state of one worker.
//
//   word        written by                                             meaning
//   REST        worker; host from PARKED, by compare-and-swap, or      see `doorbell.ts`
//               RETIRED
//   HELD        worker                                                 tasks that it claimed and has not answered
//   TAKEN       worker                                                 entries of its inbox that it has read
//   MAY_SPIN    host                                                   1: the worker may busy-wait
//   SENT        host                                                   tasks that the host has sent to it, by message or inbox
//   HEARD       host                                                   `progress` messages that the host has handled
//   DROPPED     host                                                   entries that the host has put into its inbox
//   WRITTEN     worker                                                 bytes published in its ring since its start
//   READ        host                                                   the part of these bytes that is free again
export const REST = 0
export const HELD = 1
export const TAKEN = 2
export const MAY_SPIN = LINE
export const SENT = LINE + 1
export const HEARD = LINE + 2
export const DROPPED = LINE + 3
export const WRITTEN = 2 * LINE
export const READ = 3 * LINE

// The inbox of one worker: a ring of entries, each a ticket and its position. The host writes them.
export const INBOX_FROM = 4 * LINE
/** A power of two. Enough short tasks to keep a worker busy until the host has read an answer and posts the next ones. */
export const INBOX_ENTRIES = 128
const RING_FROM_BYTES = 4 * LINE_BYTES + INBOX_ENTRIES * 2 * Int32Array.BYTES_PER_ELEMENT

// A record in a result ring: words, then the bytes of its value.
export const RECORD_BYTES = 32
/** A checksum of the head. */
export const CHECK = 0
export const KIND = 1
export const TICKET = 2
export const TASK = 3
/** A value that is an int, or the number of bytes of the value. */
export const RECORD_VALUE = 4
/** The run time of the handler in milliseconds, as a 32-bit float. */
export const RUN_MS = 5
/** The start of the handler on the host's clock, as a 64-bit float. This index counts 64-bit floats. */
export const RECORD_STARTED_AT = 3

/** The memory for payloads in the lane. The system allocates a page only at its first use. */
const PAYLOAD_BYTES = 16 * 2 ** 20
const SHAPE_TABLE_BYTES = 64 * 2 ** 10
/** A power of two, because offsets wrap around. */
const RING_BYTES = 4 * 2 ** 20

/** A payload or a result of this size always crosses through shared memory. */
export const LARGEST_VALUE_BYTES = 512 * 2 ** 10

/** A payload up to this size crosses through shared memory that is free. */
export const LARGEST_PAYLOAD_BYTES = 4 * 2 ** 20

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
  /** The host encodes a payload here that it cannot post yet. Workers never read it. */
  readonly scratch: Span
  readonly dictionary: Span
}

export interface WorkerStateLayout {
  readonly memory: SharedArrayBuffer
  readonly ring: Span
  readonly dictionary: Span
}

/** Creates twice as many positions as tickets: a cancelled ticket's position stays in use until a worker passes it. */
export function createLane(tickets: number, payloadBytes = PAYLOAD_BYTES): LaneLayout {
  const positions = 2 ** Math.ceil(Math.log2(2 * tickets))
  const memory = allocateMemory(
    laneBytes(tickets, positions) + SHAPE_TABLE_BYTES + payloadBytes + LARGEST_VALUE_BYTES,
  )
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
  const scratchFrom = memory.byteLength - LARGEST_VALUE_BYTES
  return {
    memory,
    tickets,
    positions,
    positionsFrom: POSITIONS_FROM,
    ticketsFrom: POSITIONS_FROM + positions,
    dictionary: { from: dictionaryFrom, to: dictionaryFrom + SHAPE_TABLE_BYTES },
    payloads: { from: dictionaryFrom + SHAPE_TABLE_BYTES, to: scratchFrom },
    scratch: { from: scratchFrom, to: memory.byteLength },
  }
}

export function createWorkerState(): WorkerStateLayout {
  return workerStateIn(allocateMemory(RING_FROM_BYTES + RING_BYTES + SHAPE_TABLE_BYTES))
}

export function workerStateIn(memory: SharedArrayBuffer): WorkerStateLayout {
  const ringTo = RING_FROM_BYTES + RING_BYTES
  return {
    memory,
    ring: { from: RING_FROM_BYTES, to: ringTo },
    dictionary: { from: ringTo, to: memory.byteLength },
  }
}

/** Values are aligned, because buffers in them are. */
const ALIGNMENT = 8

/** Where the carried values of a ticket start. */
export function carrierFrom(payloadTo: number): number {
  return Math.ceil(payloadTo / ALIGNMENT) * ALIGNMENT
}

/** The index of a ticket's first word. */
export function ticketAt(layout: LaneLayout, ticket: number): number {
  return layout.ticketsFrom + ticket * LINE
}

function laneBytes(tickets: number, positions: number): number {
  return (POSITIONS_FROM + positions + tickets * LINE) * Int32Array.BYTES_PER_ELEMENT
}
