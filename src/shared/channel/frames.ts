// Messages as bytes on a pipe between processes: a head of sixteen bytes says what follows and how long it is. Control words
// are heads alone, so that to say a task has begun costs no serialising.

/** A value: the start order first, then messages. A mark stands where a task's id stands. */
export const VALUE = 0
/** The task with this id, in this slot, is the worker's now. The slot stands where a value's length stands. */
export const BEGUN = 1
/** The task in this slot waits for its file. */
export const LOADING = 2
/** The task in this slot waits for its file no more. */
export const LOADED = 3
/** A long answer of the task in this slot follows. */
export const ANSWERED = 4

export type FrameKind = typeof VALUE | typeof BEGUN | typeof LOADING | typeof LOADED | typeof ANSWERED

/** A multiple of 8, so that what is aligned within a value is aligned in its frame. */
export const HEAD_BYTES = 16
/** What one write of the runtime is sure to take. */
export const LARGEST_VALUE_BYTES = 2 ** 31 - 1 - HEAD_BYTES

const VALUE_MARK = 0x6f64696c

/** Fills in the head of a frame: for a value, its length; for a control word, a slot and a task. */
export function writeHead(frame: Buffer, kind: FrameKind, word: number, taskId = 0): void {
  frame.writeUInt32LE(kind, 0)
  frame.writeUInt32LE(word, 4)
  frame.writeUInt32LE(kind === VALUE ? VALUE_MARK : taskId, 8)
  frame.writeUInt32LE(0, 12)
}

export interface FrameListener {
  /** The bytes are the listener's to read until it returns. */
  onValue(bytes: Buffer): void
  onControl(kind: FrameKind, slot: number, taskId: number): void
  /** What comes is no frame: nothing behind it can be told apart, and nothing more is read. */
  onGarbage(): void
}

/** Puts the pieces that a pipe gives together again. */
export class FrameReader {
  readonly #listener: FrameListener
  readonly #slots: number
  readonly #head = Buffer.alloc(HEAD_BYTES)
  #headFilled = 0
  /** A value of which pieces are missing. */
  #body: Buffer | null = null
  #bodyFilled = 0
  #isBroken = false

  /** @param slots that a control word may name */
  constructor(listener: FrameListener, slots: number) {
    this.#listener = listener
    this.#slots = slots
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
      at += this.#begin(piece, at)
    }
  }

  /** A head is complete. Returns how many bytes after it were read. */
  #begin(piece: Buffer, at: number): number {
    const kind = this.#head.readUInt32LE(0) as FrameKind
    const word = this.#head.readUInt32LE(4)
    const third = this.#head.readUInt32LE(8)
    const isValue = kind === VALUE && word <= LARGEST_VALUE_BYTES && third === VALUE_MARK
    const isControl = kind !== VALUE && kind <= ANSWERED && word < this.#slots
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
