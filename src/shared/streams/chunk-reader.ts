// The receiving end of a stream of chunks, as an async iterator. It asks for more chunks as its consumer takes them, so the
// chunks that wait here stay within the window.
import { chunkBytes, type StreamWindow } from './chunk-bytes.js'

interface Consumer {
  resolve(result: IteratorResult<unknown, undefined>): void
  reject(error: unknown): void
}

export interface ReaderParts {
  /** The writer may send this many more chunks and bytes. */
  want(chunks: number, bytes: number): void
  /** The consumer takes no more chunks. Not called after the end of the stream. */
  onStop(): void
}

export class ChunkReader {
  readonly #window: StreamWindow
  readonly #parts: ReaderParts
  #chunks: unknown[] = []
  /** The place of the first chunk that was not taken. */
  #at = 0
  readonly #consumers: Consumer[] = []
  /** Chunks and bytes that were taken, and for which the writer has no permission yet. */
  #takenChunks = 0
  #takenBytes = 0
  #end: { error: unknown } | 'done' | null = null

  constructor(window: StreamWindow, parts: ReaderParts) {
    this.#window = window
    this.#parts = parts
  }

  /** A consumer waits for the next chunk. */
  get hasConsumers(): boolean {
    return this.#consumers.length > 0
  }

  /** The end has come, or the consumer has stopped. */
  get hasEnded(): boolean {
    return this.#end !== null
  }

  /** Lets the writer begin. */
  open(): void {
    this.#parts.want(this.#window.chunks, this.#window.bytes)
  }

  onChunks(chunks: unknown[]): void {
    if (this.#end !== null) return
    for (const chunk of chunks) {
      const consumer = this.#consumers.shift()
      if (consumer === undefined) this.#chunks.push(chunk)
      else consumer.resolve({ value: this.#take(chunk), done: false })
    }
    this.#askForMore()
  }

  /** The stream has ended. Chunks that were not taken stay available. */
  onEnd(): void {
    this.#finish('done')
  }

  /** The stream has failed. The consumer gets the chunks that wait, then the error. With `isImmediate`, only the error. */
  onFailure(error: unknown, isImmediate: boolean): void {
    if (this.#end !== null) return
    if (isImmediate) this.#drop()
    this.#finish({ error })
  }

  next(): Promise<IteratorResult<unknown, undefined>> {
    if (this.#at < this.#chunks.length) {
      const chunk = this.#chunks[this.#at]
      this.#chunks[this.#at++] = undefined
      if (this.#at === this.#chunks.length) this.#drop()
      const value = this.#take(chunk)
      this.#askForMore()
      return Promise.resolve({ value, done: false })
    }
    const end = this.#end
    if (end === null) {
      return new Promise((resolve, reject) => {
        this.#consumers.push({ resolve, reject })
      })
    }
    this.#end = 'done'
    return end === 'done' ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(end.error)
  }

  /** The consumer takes no more chunks. */
  return(): void {
    const wasOpen = this.#end === null
    this.#drop()
    this.#end = 'done'
    this.#settleConsumers()
    if (wasOpen) this.#parts.onStop()
  }

  #finish(end: { error: unknown } | 'done'): void {
    if (this.#end !== null) return
    this.#end = end
    this.#settleConsumers()
  }

  #settleConsumers(): void {
    for (const { resolve, reject } of this.#consumers.splice(0)) this.next().then(resolve, reject)
  }

  #drop(): void {
    this.#chunks = []
    this.#at = 0
  }

  #take(chunk: unknown): unknown {
    this.#takenChunks++
    this.#takenBytes += chunkBytes(chunk)
    return chunk
  }

  /** One message for several chunks: when half of the window is free, and when no chunk is left. */
  #askForMore(): void {
    if (this.#end !== null || this.#takenChunks === 0) return
    const isDue =
      this.#at === this.#chunks.length ||
      this.#takenChunks * 2 >= this.#window.chunks ||
      this.#takenBytes * 2 >= this.#window.bytes
    if (!isDue) return
    this.#parts.want(this.#takenChunks, this.#takenBytes)
    this.#takenChunks = this.#takenBytes = 0
  }
}
