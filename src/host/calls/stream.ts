// `pool.stream()`: the chunks of one task as an async iterable. The handler runs only as far as the consumer takes its chunks.

import type { StreamOptions } from '../../api/call-options.js'
import type { PoolStream } from '../../api/results.js'
import {
  PoolClosedError,
  type PoolError,
  type PublicFunction,
  TaskCancelledError,
  TaskTimeoutError,
  withCallerFrames,
} from '../../shared/errors/pool-errors.js'
import type { StreamBody } from '../../shared/messages/task-body.js'
import type { StreamWindow } from '../../shared/streams/chunk-bytes.js'
import { ChunkReader } from '../../shared/streams/chunk-reader.js'
import type { Engine } from '../engine/engine.js'
import type { Call } from '../task/call.js'
import type { TaskChannel } from '../task/exchange.js'
import { Rejection } from '../task/rejection.js'
import { forCaller } from './caller-stack.js'
import { type StreamEnd, withStream } from './exchange.js'
import { END, ResultIterator } from './result-iterator.js'
import { resolveStream } from './stream-options.js'

/** The reading end of a task's stream. */
export class StreamReader<Chunk = any> extends ResultIterator<Chunk> implements PoolStream<Chunk> {
  readonly #task: StreamTask

  constructor(task: StreamTask) {
    super()
    this.#task = task
  }

  next(): Promise<IteratorResult<Chunk, undefined>> {
    return this.#task.read() as Promise<IteratorResult<Chunk, undefined>>
  }

  async return(): Promise<IteratorResult<Chunk, undefined>> {
    this.#task.stopReading()
    return END
  }
}

type CancelTask = (error: PoolError) => void

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
  #channel: TaskChannel | null = null
  #isReading = false
  #hasSettled = false
  /** Nobody can read the stream any more. */
  #isForgotten = false

  constructor(window: StreamWindow, runner: StreamRunner) {
    this.#runner = runner
    this.#reader = new ChunkReader(window, {
      want: (chunks, bytes) => this.#channel?.post({ kind: 'wanted', chunks, bytes }),
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
      if (this.#channel === null) this.begin()
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
      this.onAnswer(new Rejection(error))
    }
  }

  /** Cancels the task. The reader gets the error. */
  cancel(error: PoolError): void {
    if (this.#hasSettled) return
    if (this.#cancelTask === null) this.onAnswer(new Rejection(error))
    else this.#cancelTask(error)
  }

  // For the task.

  onOpened(channel: TaskChannel): void {
    this.#cancelTask ??= error => channel.cancel(error)
    this.#channel = channel
    if (this.#isReading) this.#reader.open()
  }

  onMessage(body: StreamBody): void {
    if (body.kind !== 'chunks') return
    this.#reader.onChunks(body.chunks)
    if (this.#isForgotten) this.onForgotten()
  }

  onAnswer(answer: unknown): void {
    this.#hasSettled = true
    forgotten.unregister(this)
    this.#runner.onSettled?.(answer)
    if (answer instanceof Rejection) this.#reader.onFailure(answer.reason, endsAtOnce(answer.reason))
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

/** A task whose messages go to a stream, or to a transform. */
interface OpenedEnd extends StreamEnd {
  onOpened(channel: TaskChannel): void
  onAnswer(answer: unknown): void
}

/** Submits the task of a stream. Throws the error with which the pool refuses it. */
export function startStream(
  engine: Engine,
  { payload, terms }: Call,
  end: OpenedEnd,
  entry: PublicFunction,
): CancelTask {
  const exchange = withStream(terms.exchange, channel => {
    end.onOpened(channel)
    return end
  })
  const task = forCaller(entry, () =>
    engine.submit({ payload, terms: { ...terms, exchange } }, answer => end.onAnswer(answer)),
  )
  return error => engine.cancel(task, error)
}

/** The stream of one call. Throws `InvalidTaskError`. */
export function streamOf(
  engine: Engine,
  payload: unknown,
  options: StreamOptions | undefined,
  entry: PublicFunction,
): PoolStream {
  const { call, window } = resolveStream(payload, options, engine.settings)
  const taken = takeEarly(engine, { ...call, terms: engine.inContext(call.terms) }, entry)
  const task: StreamTask = new StreamTask(window, {
    start: () => startStream(engine, taken(), task, entry),
  })
  return task.makeStream()
}

/** The task of a stream starts later than the call, but gets the payload of the call. The returned function throws a refusal. */
function takeEarly(engine: Engine, call: Call, entry: PublicFunction): () => Call {
  try {
    return engine.take(call)
  } catch (refused) {
    return () => {
      throw withCallerFrames(refused, entry)
    }
  }
}
