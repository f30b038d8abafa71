// The messages between a running task and the program that submitted it: calls of the program's functions, and streams.

import type { TransferItem } from '../../api/call-options.js'
import { TaskCancelledError } from '../../shared/errors/pool-errors.js'
import { deserializeError } from '../../shared/errors/serialize-error.js'
import type { TransformOrder } from '../../shared/messages/handler-ref.js'
import type { HostPort } from '../../shared/messages/messages.js'
import { outgoing } from '../../shared/messages/outgoing.js'
import type { BodyToCaller, BodyToTask } from '../../shared/messages/task-body.js'
import { ChunkReader } from '../../shared/streams/chunk-reader.js'
import { ChunkWriter } from '../../shared/streams/chunk-writer.js'
import { workerClock } from '../run/clock.js'

/** The part of a task that its link uses. */
export interface LinkedTask {
  readonly taskId: number
  readonly ticket: number
  answersByMessage: boolean
  makeSignal(): AbortSignal
}

interface PendingCall {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Counts the calls of all tasks. A task may run again on this worker, and an answer to its first run may arrive late. */
let lastCallId = 0

export class TaskLink {
  readonly #task: LinkedTask
  readonly #port: HostPort
  /** Called when the task begins to wait for calls (true), and when it no longer waits for any (false). */
  readonly #onWaiting: (isWaiting: boolean) => void
  readonly #calls = new Map<number, PendingCall>()
  #isOpen = false
  #writer: ChunkWriter | null = null
  #input: ChunkReader | null = null

  constructor(task: LinkedTask, port: HostPort, onWaiting: (isWaiting: boolean) => void) {
    this.#task = task
    this.#port = port
    this.#onWaiting = onWaiting
    const signal = task.makeSignal()
    signal.addEventListener('abort', () => this.#onCancelled(signal.reason))
  }

  /** The task waits for functions of its caller. */
  get isWaiting(): boolean {
    return this.#calls.size > 0
  }

  /** Calls a function of the caller. */
  call(name: string, given: unknown[]): Promise<unknown> {
    const callId = ++lastCallId
    // The answer must arrive after the calls, also when the handler does not wait for them.
    this.#task.answersByMessage = true
    const { value, transferList } = outgoing(given)
    const args = value as unknown[]
    this.#say({ kind: 'call', callId, name, args }, transferList)
    if (this.#calls.size === 0) this.#onWaiting(true)
    const answer = new Promise((resolve, reject) => {
      this.#calls.set(callId, { resolve, reject })
    })
    // The handler may end without waiting for the answer.
    answer.catch(() => {})
    return answer
  }

  /** The writer of the task's stream. */
  openWriter(transfers: boolean): ChunkWriter {
    this.#open()
    this.#writer = new ChunkWriter({
      clock: workerClock,
      transfers,
      post: (chunks, transferList) => this.#say({ kind: 'chunks', chunks }, transferList),
    })
    return this.#writer
  }

  /** Tells the host that the task exchanges chunks. */
  #open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#say({ kind: 'opened' })
  }

  /** The chunks that the caller writes into a transform. */
  openInput({ chunks, bytes }: TransformOrder): ChunkReader {
    this.#open()
    this.#input = new ChunkReader(
      { chunks, bytes },
      {
        want: (moreChunks, moreBytes) => this.#say({ kind: 'wanted', chunks: moreChunks, bytes: moreBytes }),
        onStop: () => this.#say({ kind: 'end' }),
      },
    )
    this.#input.open()
    return this.#input
  }

  onMessage(body: BodyToTask): void {
    switch (body.kind) {
      case 'call-answer': {
        const call = this.#calls.get(body.callId)
        if (call === undefined) return
        this.#calls.delete(body.callId)
        if (this.#calls.size === 0) this.#onWaiting(false)
        return 'error' in body ? call.reject(deserializeError(body.error)) : call.resolve(body.value)
      }
      case 'wanted':
        return this.#writer?.onWanted(body.chunks, body.bytes)
      case 'chunks':
        return this.#input?.onChunks(body.chunks)
      case 'end':
        return this.#input?.onEnd()
    }
  }

  /** Call it when the handler has ended. */
  end(): void {
    this.#rejectCalls(new Error('The task has ended.'))
  }

  #onCancelled(reason: unknown): void {
    const error = new TaskCancelledError(reason)
    this.#rejectCalls(error)
    this.#input?.onFailure(error, true)
    this.#writer?.wake()
  }

  #rejectCalls(error: Error): void {
    if (this.#calls.size === 0) return
    this.#onWaiting(false)
    for (const { reject } of this.#calls.values()) reject(error)
    this.#calls.clear()
  }

  #say(body: BodyToCaller, transferList?: readonly TransferItem[]): void {
    const { taskId, ticket } = this.#task
    this.#port.postMessage({ kind: 'from-task', taskId, ticket, body }, transferList)
  }
}
