// The output of all workers as two streams, for the option `output: 'pipe'`.
import type { Readable } from 'node:stream'
import type { WorkerView } from '../../api/worker-view.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'

/** A longer line is passed on in parts. */
const LONGEST_LINE_BYTES = 2 ** 16
const NEWLINE = 10

export class WorkerOutput {
  readonly stdout = new MergedOutput()
  readonly stderr = new MergedOutput()

  /** Adds a new worker. An inline worker prints as the program. */
  add({ thread, process: child }: WorkerView): void {
    const { stdout, stderr } = thread ?? child ?? {}
    if (stdout) this.stdout.add(stdout)
    if (stderr) this.stderr.add(stderr)
  }

  /** Call it when the pool is closed. */
  end(): void {
    this.stdout.end()
    this.stderr.end()
  }
}

/**
 * Mixes the output of the workers by whole lines, and pauses the workers while the reader is slow. Until the program asks for the stream,
 * and after it has destroyed the stream, output is dropped: nobody would read it, and a full pipe would block the workers.
 */
class MergedOutput {
  readonly #sources = new Set<Readable>()
  #stream: Readable | null = null
  #isPoolClosed = false

  get stream(): Readable {
    if (this.#stream === null) {
      this.#stream = new (getBuiltinModule('node:stream').Readable)({
        read: () => this.#resume(),
        destroy: (error, onDestroyed) => {
          this.#resume()
          onDestroyed(error)
        },
      })
      this.#endIfDone()
    }
    return this.#stream
  }

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
      const isTooLong = lineBytes + chunk.length > LONGEST_LINE_BYTES
      const end = lineEnd === 0 && isTooLong ? chunk.length : lineEnd
      if (end > 0) {
        this.#push(Buffer.concat([...line, chunk.subarray(0, end)]))
        line = []
        lineBytes = 0
      }
      const rest = chunk.subarray(end)
      if (rest.length === 0) return
      line.push(rest)
      lineBytes += rest.length
    })
    source.on('end', onEnd).on('close', onEnd).on('error', onEnd)
    source.resume()
  }

  end(): void {
    this.#isPoolClosed = true
    this.#endIfDone()
  }

  #push(text: Buffer): void {
    if (this.#stream === null || this.#stream.destroyed || this.#stream.push(text)) return
    for (const source of this.#sources) source.pause()
  }

  #resume(): void {
    for (const source of this.#sources) source.resume()
  }

  /** Output of the last workers may arrive after their end. */
  #endIfDone(): void {
    const stream = this.#stream
    if (this.#isPoolClosed && this.#sources.size === 0 && stream !== null && !stream.destroyed)
      stream.push(null)
  }
}
