// Handlers whose result is a stream: a generator, an async iterable or a web stream. The worker takes one chunk after another from
// the handler and sends it, as long as the reader takes more.
import { refusedChunkPath, UnsendableError } from '../../shared/errors/uncloneable-path.js'
import type { TransformOrder } from '../../shared/messages/handler-ref.js'
import type { ChunkWriter } from '../../shared/streams/chunk-writer.js'
import type { WorkerTask } from '../lane/worker-task.js'
import { workerClock } from './clock.js'
import type { HandlerFunction } from './module-loader.js'

type Chunks = Iterator<unknown> | AsyncIterator<unknown>

/** A generator that never awaits lets the event loop turn after this time, so that messages of the host arrive. */
const YIELD_MS = 1

/**
 * True for generators, async iterables and web streams. An array is a value, not a stream. False for an object that throws when it is
 * read: sending it fails later with the reason.
 */
export function isStream(result: unknown): boolean {
  if (result === null || typeof result !== 'object') return false
  try {
    const { next } = result as { next?: unknown }
    return Symbol.asyncIterator in result || (typeof next === 'function' && Symbol.iterator in result)
  } catch {
    return false
  }
}

/** Runs a handler for `pool.stream()`. Resolves after the last chunk. */
export async function runStream(task: WorkerTask, handler: HandlerFunction, payload: unknown): Promise<void> {
  const result = await handler(payload)
  const isList = result !== null && typeof result === 'object' && Symbol.iterator in result
  if (!isStream(result) && !isList) {
    throw new TypeError(
      `The handler '${task.handler.name}' returned ${describe(result)}, which is no stream. Call it with run(), or make it a generator function.`,
    )
  }
  return await sendStream(task, result, false)
}

/** Runs a handler for `pool.transform()`. Resolves after the last chunk. */
export async function runTransform(
  task: WorkerTask,
  handler: HandlerFunction,
  order: TransformOrder,
): Promise<void> {
  const input = task.link.openInput(order)
  const source: AsyncIterableIterator<unknown> = {
    [Symbol.asyncIterator]: () => source,
    next: () => input.next(),
    return: async () => {
      // Not at once: an error of the handler also ends its loop, and then the host must learn the error first.
      workerClock.nextTurn(() => {
        if (task.state === 'running') input.return()
      })
      return { value: undefined, done: true }
    },
  }
  const result = await handler(source)
  if (!isStream(result)) {
    throw new TypeError(
      `The handler '${task.handler.name}' returned ${describe(result)}, which is no stream. Make it an async generator function that reads its argument: async function* (source).`,
    )
  }
  // A handler that fails before its first chunk must not wait for a reader.
  await sendStream(task, result, order.transfers, true)
}

/**
 * Sends the chunks of a stream. Closes the stream when the task is cancelled. Throws `UnsendableError` for a chunk that cannot be sent.
 * @param startsEarly takes the first chunk before the reader asks for it
 */
export async function sendStream(
  task: WorkerTask,
  stream: unknown,
  transfers: boolean,
  startsEarly = false,
): Promise<void> {
  // The answer must arrive after the chunks, so it is a message too.
  task.answersByMessage = true
  const writer = task.link.openWriter(transfers)
  const chunks = iteratorOf(stream)
  // Ends a wait for the next chunk where the stream allows it. A generator first finishes its current step.
  const onAbort = () => void closeQuietly(chunks)
  task.makeSignal().addEventListener('abort', onAbort)
  let isDone = false
  let mayTakeEarly = startsEarly
  let turnedAt = workerClock.now()
  const room = async () => {
    // The worker may have read the cancel message before the stream existed. Then nothing ends a wait for room.
    while (!writer.hasRoom && !task.isCancelled) await writer.room()
    turnedAt = workerClock.now()
  }
  try {
    for (;;) {
      if (!writer.hasRoom && !mayTakeEarly) await room()
      else if (workerClock.now() - turnedAt >= YIELD_MS) {
        writer.flush()
        await new Promise<void>(resolve => workerClock.nextTurn(resolve))
        turnedAt = workerClock.now()
      }
      if (task.isCancelled) return
      const given = chunks.next()
      const step = isThenable(given) ? await given : given
      if (task.isCancelled) return
      isDone = step.done === true
      if (isDone) break
      const chunk = isThenable(step.value) ? await step.value : step.value
      if (mayTakeEarly) {
        mayTakeEarly = false
        if (!writer.hasRoom) await room()
        if (task.isCancelled) return
      }
      write(writer, chunk)
    }
    writer.flush()
  } catch (error) {
    // The chunks before the error arrive before it.
    if (!task.isCancelled) writer.flush()
    throw error
  } finally {
    if (!isDone) await chunks.return?.()
  }
}

async function closeQuietly(chunks: Chunks): Promise<void> {
  try {
    await chunks.return?.()
  } catch {
    // The task is cancelled, so nobody waits for the error.
  }
}

function iteratorOf(stream: unknown): Chunks {
  // A reader can be cancelled while it waits. The iterator of a web stream cannot.
  if (typeof ReadableStream === 'function' && stream instanceof ReadableStream) {
    const reader = stream.getReader()
    const cancel = async () => {
      await reader.cancel()
      return { value: undefined, done: true as const }
    }
    return { next: () => reader.read() as Promise<IteratorResult<unknown>>, return: cancel }
  }
  const { [Symbol.asyncIterator]: makeAsync, [Symbol.iterator]: makeSync } =
    stream as AsyncIterable<unknown> & Iterable<unknown>
  return typeof makeAsync === 'function' ? makeAsync.call(stream) : makeSync.call(stream)
}

function write(writer: ChunkWriter, chunk: unknown): void {
  try {
    writer.write(chunk)
  } catch (failure) {
    throw new UnsendableError(refusedChunkPath(failure, chunk), failure)
  }
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return value !== null && typeof value === 'object' && 'then' in value && typeof value.then === 'function'
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
