// The output of all workers as one stream, for the option `output: 'pipe'`. The stream mixes the workers' output by whole
// lines. It pauses the workers while its reader is slow. Until the program asks for the stream, output is dropped: nobody
// would read it, and a full pipe would block the workers.
import type { Readable } from 'node:stream'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'

/** A longer line is passed on in parts. */
const LONGEST_LINE_BYTES = 2 ** 16
const NEWLINE = 10

export class Output {
  readonly #sources = new Set<Readable>()
  #stream: Readable | null = null
  #isPoolClosed = false

  get stream(): Readable {
    if (this.#stream === null) {
      this.#stream = new (getBuiltinModule('node:stream').Readable)({
        read: () => {
          for (const source of this.#sources) source.resume()
        },
      })
      this.#endIfDone()
    }
    return this.#stream
  }

  /** Adds the output of a new worker. */
  add(source: Readable): void {
    this.#sources.add(source)
    // Node pipes the output of a thread to that of the program. Its own option to prevent it would let each thread hold the process.
    source.unpipe()
    let line: Buffer[] = []
    let lineBytes = 0
    const onEnd = () => {
      if (!this.#sources.delete(source)) return
      if (line.length > 0) this.#push(Buffer.concat(line))
      this.#endIfDone()
    }
    source.on('data', (chunk: Buffer) => {
      const lineEnd = chunk.lastIndexOf(NEWLINE) + 1
      const whole = lineEnd > 0 || lineBytes + chunk.length > LONGEST_LINE_BYTES
      const end = lineEnd > 0 ? lineEnd : chunk.length
      if (whole) {
        this.#push(Buffer.concat([...line, chunk.subarray(0, end)]))
        line = []
        lineBytes = 0
      }
      const rest = whole ? chunk.subarray(end) : chunk
      if (rest.length === 0) return
      line.push(rest)
      lineBytes += rest.length
    })
    source.on('end', onEnd).on('close', onEnd).on('error', onEnd)
    source.resume()
  }

  /** Call it when the pool is closed. */
  end(): void {
    this.#isPoolClosed = true
    this.#endIfDone()
  }

  #push(text: Buffer): void {
    if (this.#stream === null || this.#stream.push(text)) return
    for (const source of this.#sources) source.pause()
  }

  /** Output of the last workers may arrive after their end. */
  #endIfDone(): void {
    if (this.#isPoolClosed && this.#sources.size === 0 && this.#stream?.readableEnded === false)
      this.#stream.push(null)
  }
}
