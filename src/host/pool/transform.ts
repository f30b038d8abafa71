// `pool.transform()`: one task as a pair of web streams. The handler reads the chunks that the program writes, and the program reads
// the chunks that the handler yields.
import { NotCloneableError, TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { refusedChunkPath } from '../../shared/errors/uncloneable-path.js'
import type { StreamMessage } from '../../shared/messages/messages.js'
import type { Clock } from '../../shared/platform/clock.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { StreamWindow } from '../../shared/streams/chunk-bytes.js'
import { ChunkWriter } from '../../shared/streams/chunk-writer.js'
import { Refusal } from '../task/refusal.js'
import type { CancelTask, PostToTask, StreamEnd } from '../task/stream-end.js'
import { type StreamRunner, StreamTask } from './stream.js'

/** Two web streams. Pass the object to `pipeThrough()`, or make a Node stream of it with `Duplex.fromWeb()`. */
export interface PoolTransform<Input = any, Output = any> {
  readonly readable: ReadableStream<Output>
  readonly writable: WritableStream<Input>
}

export class Transform implements StreamEnd {
  readonly output: StreamTask
  readonly #writer: ChunkWriter
  #post: PostToTask | null = null
  /** Resolves when the handler has started to read, and when the task has settled. */
  readonly #opened: Promise<void>
  #onOpened!: () => void
  /** Set when the handler takes no more input. */
  #inputError: { error: unknown } | null = null
  #controller!: WritableStreamDefaultController

  constructor(window: StreamWindow, transfers: boolean, clock: Clock, runner: StreamRunner) {
    this.output = new StreamTask(window, { ...runner, onSettled: answer => this.#onSettled(answer) })
    this.#opened = new Promise(resolve => {
      this.#onOpened = resolve
    })
    this.#writer = new ChunkWriter({
      clock,
      transfers,
      post: (chunks, transferList) => this.#post!({ kind: 'chunks', chunks }, transferList),
    })
  }

  makeStreams(): PoolTransform {
    const { ReadableStream, WritableStream } = getBuiltinModule('node:stream/web')
    const { output } = this
    const readable = new ReadableStream(
      {
        async pull(controller) {
          const { done, value } = await output.read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: () => output.stopReading(),
      },
      { highWaterMark: 0 },
    )
    const writable = new WritableStream({
      start: controller => {
        this.#controller = controller
      },
      write: chunk => this.#write(chunk),
      close: () => this.#close(),
      abort: reason => output.cancel(new TaskCancelledError(reason)),
    })
    return { readable, writable } as unknown as PoolTransform
  }

  onOpened(post: PostToTask, cancel: CancelTask): StreamEnd {
    this.#post = post
    this.output.onOpened(post, cancel)
    this.#onOpened()
    return this
  }

  onMessage(message: StreamMessage): void {
    switch (message.kind) {
      case 'chunks':
        return this.output.onMessage(message)
      case 'wanted':
        return this.#writer.onWanted(message.chunks, message.bytes)
      case 'end':
        return this.#refuseInput(new TypeError('The handler has stopped reading, so it takes no more input.'))
    }
  }

  onAnswer(answer: unknown): void {
    this.output.onAnswer(answer)
  }

  async #write(chunk: unknown): Promise<void> {
    this.output.begin()
    while (!this.#writer.hasRoom && this.#inputError === null) await this.#writer.room()
    if (this.#inputError !== null) throw this.#inputError.error
    try {
      this.#writer.write(chunk)
    } catch (failure) {
      const error = new NotCloneableError(refusedChunkPath(failure, chunk), failure)
      this.output.cancel(new TaskCancelledError(error))
      throw error
    }
  }

  async #close(): Promise<void> {
    this.output.begin()
    await this.#opened
    if (this.#inputError !== null) return
    this.#writer.flush()
    this.#post!({ kind: 'end' })
  }

  #onSettled(answer: unknown): void {
    const error =
      answer instanceof Refusal
        ? answer.reason
        : new TypeError('The handler has ended, so it takes no more input.')
    this.#refuseInput(error)
    this.#onOpened()
  }

  #refuseInput(error: unknown): void {
    if (this.#inputError !== null) return
    this.#inputError = { error }
    this.#controller.error(error)
    this.#writer.wake()
  }
}
