// `pool.transform()`: one task as a pair of web streams. The handler reads the chunks that the program writes, and the program reads
// the chunks that the handler yields.

import type { TransformOptions } from '../../api/call-options.js'
import type { PoolTransform } from '../../api/results.js'
import {
  NotCloneableError,
  type PublicFunction,
  TaskCancelledError,
} from '../../shared/errors/pool-errors.js'
import { refusedChunkPath } from '../../shared/errors/uncloneable-path.js'
import type { StreamBody } from '../../shared/messages/task-body.js'
import type { Clock } from '../../shared/platform/clock.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'
import type { StreamWindow } from '../../shared/streams/chunk-bytes.js'
import { ChunkWriter } from '../../shared/streams/chunk-writer.js'
import type { Engine } from '../engine/engine.js'
import type { TaskChannel } from '../task/exchange.js'
import { Rejection } from '../task/rejection.js'
import type { StreamEnd } from './exchange.js'
import { type StreamRunner, StreamTask, startStream } from './stream.js'
import { resolveTransform } from './stream-options.js'

/** Does not refer to the streams, so that forgotten streams are collected. */
export class Transform implements StreamEnd {
  readonly output: StreamTask
  readonly #writer: ChunkWriter
  #channel: TaskChannel | null = null
  /** Resolves when the handler has started to read, and when the task has settled. */
  readonly #opened: Promise<void>
  #onOpened!: () => void
  readonly #settled: Promise<void>
  #onTaskSettled!: () => void
  /** Why the task has failed. */
  #failure: { error: unknown } | null = null
  /** Set when the handler takes no more input. */
  #inputError: { error: unknown } | null = null
  /** Why the writer or the reader has ended the transform. Both sides get it, as with a `TransformStream`. */
  #reason: { error: unknown } | null = null
  #isClosing = false
  #failWritable: (error: unknown) => void = () => {}
  #failReadable: (error: unknown) => void = () => {}

  constructor(window: StreamWindow, transfers: boolean, clock: Clock, runner: StreamRunner) {
    this.output = new StreamTask(window, { ...runner, onSettled: answer => this.#onSettled(answer) })
    this.#opened = new Promise(resolve => {
      this.#onOpened = resolve
    })
    this.#settled = new Promise(resolve => {
      this.#onTaskSettled = resolve
    })
    this.#writer = new ChunkWriter({
      clock,
      transfers,
      post: (chunks, transferList) => this.#channel!.post({ kind: 'chunks', chunks }, transferList),
    })
  }

  makeStreams(): PoolTransform {
    const { ReadableStream, WritableStream } = getBuiltinModule('node:stream/web')
    const { output } = this
    const readable = new ReadableStream(
      {
        start: controller => {
          this.#failReadable = failWeakly(controller)
        },
        pull: async controller => {
          const { done, value } = await output.read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: reason => {
          this.#reason ??= { error: reason }
          this.#refuseInput(reason)
          output.stopReading()
        },
      },
      { highWaterMark: 0 },
    )
    const writable = new WritableStream({
      start: controller => {
        this.#failWritable = failWeakly(controller)
        // `abort` below comes after the write that waits for room. The signal comes at once.
        const { signal } = controller as unknown as { signal: AbortSignal }
        signal.addEventListener('abort', () => this.#end(signal.reason))
      },
      write: chunk => this.#write(chunk),
      close: () => this.#close(),
      abort: reason => this.#end(reason),
    })
    output.watch(readable)
    unclosed.register(writable, this, this)
    return { readable, writable } as unknown as PoolTransform
  }

  onOpened(channel: TaskChannel): void {
    this.#channel = channel
    this.output.onOpened(channel)
    this.#onOpened()
  }

  onMessage(body: StreamBody): void {
    switch (body.kind) {
      case 'chunks':
        return this.output.onMessage(body)
      case 'wanted':
        return this.#writer.onWanted(body.chunks, body.bytes)
      case 'end':
        return this.#refuseInput(new TypeError('The handler has stopped reading, so it takes no more input.'))
    }
  }

  onAnswer(answer: unknown): void {
    this.output.onAnswer(answer)
  }

  /** The writable side was collected. Without its end, the handler would wait for ever. */
  onWritableForgotten(): void {
    if (!this.#isClosing) this.output.cancelForgotten()
  }

  async #write(chunk: unknown): Promise<void> {
    this.output.begin()
    while (!this.#writer.hasRoom && this.#inputError === null) await this.#writer.room()
    if (this.#inputError !== null) throw this.#inputError.error
    try {
      this.#writer.write(chunk)
    } catch (failure) {
      const error = new NotCloneableError(refusedChunkPath(failure, chunk), failure)
      this.#end(error)
      throw error
    }
  }

  /** Resolves when the handler has ended. Rejects with its error. */
  async #close(): Promise<void> {
    this.#isClosing = true
    this.output.begin()
    await this.#opened
    if (this.#inputError === null) {
      this.#writer.flush()
      this.#channel!.post({ kind: 'end' })
    }
    await this.#settled
    if (this.#failure !== null) throw this.#failure.error
  }

  /** Ends the transform, because the writer was aborted or because its chunk is refused. The writable side fails by itself. */
  #end(error: unknown): void {
    this.#reason ??= { error }
    this.#inputError ??= { error }
    this.#writer.wake()
    this.#failReadable(error)
    this.output.cancel(new TaskCancelledError(error))
  }

  #onSettled(answer: unknown): void {
    unclosed.unregister(this)
    if (answer instanceof Rejection) {
      this.#failure = this.#reason ?? { error: answer.reason }
      this.#refuseInput(this.#failure.error)
    } else if (!this.#isClosing) {
      this.#refuseInput(new TypeError('The handler has ended, so it takes no more input.'))
    }
    this.#onOpened()
    this.#onTaskSettled()
  }

  #refuseInput(error: unknown): void {
    if (this.#inputError !== null) return
    this.#inputError = { error }
    this.#failWritable(error)
    this.#writer.wake()
  }
}

const unclosed = new FinalizationRegistry<Transform>(transform => transform.onWritableForgotten())

/** A controller refers to its stream, which must stay collectable. */
function failWeakly(controller: { error(reason?: unknown): void }): (error: unknown) => void {
  const weak = new WeakRef(controller)
  return error => weak.deref()?.error(error)
}

/** The transform of one call. Throws `InvalidTaskError`. */
export function transformOf(
  engine: Engine,
  options: TransformOptions | undefined,
  entry: PublicFunction,
): PoolTransform {
  const { call, window, transfers } = resolveTransform(options, engine.settings)
  const terms = engine.inContext(call.terms)
  const transform: Transform = new Transform(window, transfers, engine.clock, {
    start: () => startStream(engine, { ...call, terms }, transform, entry),
  })
  return transform.makeStreams()
}
