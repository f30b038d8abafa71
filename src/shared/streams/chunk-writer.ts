// The sending end of a stream of chunks. The reader says how many chunks and bytes it takes, and the writer sends no more. Each
// object is sent at once, because its owner may change it later. Numbers, strings and other primitives are sent in groups.
import type { TransferItem } from '../../api/call-options.js'
import { outgoing } from '../messages/outgoing.js'
import type { Clock, Timer } from '../platform/make-clock.js'
import { chunkBytes } from './chunk-bytes.js'

/** A group of primitives is sent when it has this size, and at the latest in the next turn of the event loop. */
const GROUP_CHUNKS = 256
const GROUP_BYTES = 2 ** 14

export interface WriterParts {
  readonly clock: Pick<Clock, 'nextTurn'>
  /** Transfer the buffers of chunks that are buffers. */
  readonly transfers: boolean
  /** Throws when a chunk cannot be sent. */
  post(chunks: unknown[], transferList: readonly TransferItem[]): void
}

export class ChunkWriter {
  readonly #parts: WriterParts
  /** How many chunks and bytes the reader still takes. */
  #chunks = 0
  #bytes = 0
  #group: unknown[] = []
  #groupBytes = 0
  #flushTimer: Timer | null = null
  #onRoom: (() => void) | null = null

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** The reader takes more chunks and bytes. */
  onWanted(chunks: number, bytes: number): void {
    this.#chunks += chunks
    this.#bytes += bytes
    if (this.hasRoom) this.wake()
  }

  /** The reader takes at least one more chunk. A chunk of any size may follow, so the last one may exceed the bytes. */
  get hasRoom(): boolean {
    return this.#chunks > 0 && this.#bytes > 0
  }

  /** Resolves when the reader takes one more chunk, or after `wake()`. */
  room(): Promise<void> {
    this.flush()
    return new Promise(resolve => {
      this.#onRoom = resolve
    })
  }

  /** Ends a wait for room. */
  wake(): void {
    this.#onRoom?.()
    this.#onRoom = null
  }

  /** Sends a chunk. Call it only with `hasRoom`. Throws when the chunk cannot be sent. */
  write(given: unknown): void {
    const { value: chunk, transferList } = outgoing(given)
    const bytes = chunkBytes(chunk)
    this.#chunks--
    this.#bytes -= bytes
    if (!isPrimitive(chunk)) {
      this.flush()
      return this.#parts.post([chunk], transferList.length > 0 ? transferList : this.#transferOf(chunk))
    }
    this.#groupBytes += bytes
    if (this.#group.push(chunk) >= GROUP_CHUNKS || this.#groupBytes >= GROUP_BYTES) return this.flush()
    this.#flushTimer ??= this.#parts.clock.nextTurn(() => this.flush())
  }

  /** Sends the group. */
  flush(): void {
    this.#flushTimer?.cancel()
    this.#flushTimer = null
    if (this.#group.length === 0) return
    const chunks = this.#group
    this.#group = []
    this.#groupBytes = 0
    this.#parts.post(chunks, [])
  }

  #transferOf(chunk: unknown): TransferItem[] {
    if (!this.#parts.transfers) return []
    const buffer = ArrayBuffer.isView(chunk) ? chunk.buffer : chunk
    // A view of a part shares its buffer with other values, so it is copied.
    const isWhole = buffer instanceof ArrayBuffer && (chunk as ArrayBuffer).byteLength === buffer.byteLength
    return isWhole && buffer.byteLength > 0 ? [buffer] : []
  }
}

/** A symbol cannot be sent, so it must fail at once, as functions do. */
function isPrimitive(chunk: unknown): boolean {
  return chunk === null || !['object', 'function', 'symbol'].includes(typeof chunk)
}
