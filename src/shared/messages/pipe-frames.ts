// Messages as bytes on a pipe between processes. Each frame starts with a head of 16 bytes, which has its kind and
// length. A control frame is only a head, so the report that a task has started needs no serialisation.

/** A frame with a value: first the start order, then messages. In place of a task's id it has a constant mark. */
export const VALUE_FRAME = 0
/** The worker started the task with this id and ticket. The ticket is in place of a value's length. */
export const STARTED = 1
/** The task with this ticket waits until its file is loaded. */
export const LOADING = 2
/** The file of the task with this ticket is loaded. */
export const LOADED = 3
/** A large answer of the task with this ticket follows. */
export const ANSWERED = 4

export type FrameKind = typeof VALUE_FRAME | typeof STARTED | typeof LOADING | typeof LOADED | typeof ANSWERED

/** A multiple of 8, so that aligned data of a value is also aligned in its frame. */
export const HEAD_BYTES = 16
/** The largest value that one write of Node accepts on every platform. */
export const MAX_MESSAGE_BYTES = 2 ** 31 - 1 - HEAD_BYTES

const VALUE_MARK = 0x6f64696c

/** Writes the head of a frame. `word` is the length of a value, or the ticket of a control frame. */
export function writeHead(frame: Buffer, kind: FrameKind, word: number, taskId = 0): void {
  frame.writeUInt32LE(kind, 0)
  frame.writeUInt32LE(word, 4)
  frame.writeUInt32LE(kind === VALUE_FRAME ? VALUE_MARK : taskId, 8)
  frame.writeUInt32LE(0, 12)
}

export interface FrameListener {
  /** The bytes are valid until the listener returns. */
  onValue(bytes: Buffer): void
  onControl(kind: FrameKind, ticket: number, taskId: number): void
  /** The bytes are not a frame. The reader ignores everything after them. */
  onGarbage(): void
}

/** Joins the pieces that a pipe delivers into frames. */
export class FrameReader {
  readonly #listener: FrameListener
  readonly #tickets: number
  readonly #head = Buffer.alloc(HEAD_BYTES)
  #headFilled = 0
  /** The unfinished value, or `null` between values. */
  #body: Buffer | null = null
  #bodyFilled = 0
  #isBroken = false

  /** @param tickets the number of tickets that a control frame may name */
  constructor(listener: FrameListener, tickets: number) {
    this.#listener = listener
    this.#tickets = tickets
  }

  push(piece: Buffer): void {
    let at = 0
    while (at < piece.length && !this.#isBroken) {
      if (this.#body !== null) {
        at += this.#fillBody(this.#body, piece, at)
        continue
      }
      const taken = piece.copy(this.#head, this.#headFilled, at, at + HEAD_BYTES - this.#headFilled)
      at += taken
      this.#headFilled += taken
      if (this.#headFilled < HEAD_BYTES) return
      this.#headFilled = 0
      at += this.#startFrame(piece, at)
    }
  }

  /** A head is complete. Returns the number of bytes that were read after it. */
  #startFrame(piece: Buffer, at: number): number {
    const kind = this.#head.readUInt32LE(0) as FrameKind
    const word = this.#head.readUInt32LE(4)
    const third = this.#head.readUInt32LE(8)
    const isValue = kind === VALUE_FRAME && word <= MAX_MESSAGE_BYTES && third === VALUE_MARK
    const isControl = kind !== VALUE_FRAME && kind <= ANSWERED && word < this.#tickets
    if (!(isValue || isControl) || this.#head.readUInt32LE(12) !== 0) {
      this.#isBroken = true
      this.#listener.onGarbage()
      return 0
    }
    if (isControl) {
      this.#listener.onControl(kind, word, third)
      return 0
    }
    if (piece.length - at >= word) {
      this.#listener.onValue(piece.subarray(at, at + word))
      return word
    }
    this.#body = Buffer.allocUnsafeSlow(word)
    this.#bodyFilled = 0
    return 0
  }

  #fillBody(body: Buffer, piece: Buffer, at: number): number {
    const taken = piece.copy(body, this.#bodyFilled, at, at + body.length - this.#bodyFilled)
    this.#bodyFilled += taken
    if (this.#bodyFilled === body.length) {
      this.#body = null
      this.#listener.onValue(body)
    }
    return taken
  }
}
