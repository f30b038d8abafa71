// `pool.stream()`: the chunks of one task as an async iterable. The handler runs only as far as the consumer takes its chunks.
import type { PoolStream } from '../../api/results.js'
import {
  PoolClosedError,
  type PoolError,
  TaskCancelledError,
  TaskTimeoutError,
} from '../../shared/errors/pool-errors.js'
import type { StreamMessage } from '../../shared/messages/messages.js'
import type { StreamWindow } from '../../shared/streams/chunk-bytes.js'
import { ChunkReader } from '../../shared/streams/chunk-reader.js'
import { Refusal } from '../task/refusal.js'
import type { CancelTask, PostToTask, StreamEnd } from '../task/stream-end.js'

const END = { value: undefined, done: true } as const

/** The reading end of a task's stream. */
export class StreamReader<Chunk = any> implements PoolStream<Chunk> {
  readonly #task: StreamTask

  constructor(task: StreamTask) {
    this.#task = task
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Chunk, undefined>> {
    return this.#task.read() as Promise<IteratorResult<Chunk, undefined>>
  }

  async return(): Promise<IteratorResult<Chunk, undefined>> {
    this.#task.stopReading()
    return END
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  async toArray(): Promise<Chunk[]> {
    const chunks: Chunk[] = []
    for await (const chunk of this) chunks.push(chunk)
    return chunks
  }

  async forEach(use: (chunk: Chunk) => unknown): Promise<void> {
    for await (const chunk of this) await use(chunk)
  }
}

export interface StreamRunner {
  /** Submits the task. Throws when the pool takes no task. */
  start(): CancelTask
  /** Called when the task has settled, or could not be submitted. */
  onSettled?(answer: unknown): void
}

/** The task behind a stream. Does not refer to the stream, so that a forgotten stream is collected. */
export class StreamTask implements StreamEnd {
  readonly #runner: StreamRunner
  readonly #reader: ChunkReader
  /** `null` until the task is submitted. */
  #cancelTask: CancelTask | null = null
  /** `null` until the handler has returned its stream. */
  #post: PostToTask | null = null
  #isReading = false
  #hasSettled = false
  /** Nobody can read the stream any more. */
  #isForgotten = false

  constructor(window: StreamWindow, runner: StreamRunner) {
    this.#runner = runner
    this.#reader = new ChunkReader(window, {
      want: (chunks, bytes) => this.#post?.({ kind: 'wanted', chunks, bytes }),
      onStop: () => this.cancel(new TaskCancelledError('The reader has stopped.')),
    })
  }

  // For the reader.

  makeStream(): PoolStream {
    const stream = new StreamReader(this)
    this.watch(stream)
    return stream
  }

  /** The task ends when the collector frees the object by which the program reads the chunks. */
  watch(stream: object): void {
    forgotten.register(stream, this, this)
  }

  onForgotten(): void {
    this.#isForgotten = true
    if (!this.#reader.hasConsumers) this.cancelForgotten()
  }

  cancelForgotten(): void {
    // Only a started task has a slot.
    if (this.#hasSettled || this.#cancelTask === null || this.#reader.hasEnded) return
    warnForgotten()
    this.cancel(new TaskCancelledError('Nobody can read the stream any more.'))
  }

  read(): Promise<IteratorResult<unknown, undefined>> {
    if (!this.#isReading) {
      this.#isReading = true
      if (this.#post === null) this.begin()
      else this.#reader.open()
    }
    return this.#reader.next()
  }

  stopReading(): void {
    this.#isReading = true
    this.#reader.return()
  }

  /** Submits the task, if it is not submitted yet. */
  begin(): void {
    if (this.#cancelTask !== null || this.#hasSettled) return
    try {
      this.#cancelTask = this.#runner.start()
    } catch (error) {
      this.onAnswer(new Refusal(error))
    }
  }

  /** Cancels the task. The reader gets the error. */
  cancel(error: PoolError): void {
    if (this.#hasSettled) return
    if (this.#cancelTask === null) this.onAnswer(new Refusal(error))
    else this.#cancelTask(error)
  }

  // For the task.

  onOpened(post: PostToTask, cancel: CancelTask): this {
    this.#cancelTask = cancel
    this.#post = post
    if (this.#isReading) this.#reader.open()
    return this
  }

  onMessage(message: StreamMessage): void {
    if (message.kind !== 'chunks') return
    this.#reader.onChunks(message.chunks)
    if (this.#isForgotten) this.onForgotten()
  }

  onAnswer(answer: unknown): void {
    this.#hasSettled = true
    forgotten.unregister(this)
    this.#runner.onSettled?.(answer)
    if (answer instanceof Refusal) this.#reader.onFailure(answer.reason, endsAtOnce(answer.reason))
    else this.#reader.onEnd()
  }
}

const forgotten = new FinalizationRegistry<StreamTask>(task => task.onForgotten())
let hasWarned = false

/** Once for each thread of the program. */
function warnForgotten(): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning(
    'A stream of a pool was started, and nobody can read it any more. Its task was cancelled. Read the stream to its end, or end it with return() or cancel().',
    { type: 'LidoWarning', code: 'LIDO_FORGOTTEN_STREAM' },
  )
}

/** Errors that the reader gets before the chunks that wait for it. */
function endsAtOnce(error: unknown): boolean {
  return (
    error instanceof TaskCancelledError ||
    error instanceof TaskTimeoutError ||
    error instanceof PoolClosedError
  )
}
