// The bodies of the messages between a running task and its caller. The lane carries them without reading them.
import type { SerializedError } from '../errors/serialize-error.js'

/** From the task: the latest value that its handler has reported. It comes before the answer, which is a message too. */
export interface ProgressBody {
  kind: 'progress'
  value: unknown
}

/** From the task: its handler calls a function of the caller. */
export interface CallBody {
  kind: 'call'
  callId: number
  name: string
  args: unknown[]
}

/** To the task: the answer to a `call`. `error`: the function has thrown. */
export type CallAnswerBody = { kind: 'call-answer'; callId: number } & CallAnswer
export type CallAnswer = { value: unknown } | { error: SerializedError }

/** Between the writer and the reader of a stream. */
export type StreamBody =
  /** From the task: its result is a stream, which the caller may read from now on, or it reads a stream. */
  | { kind: 'opened' }
  /** From the reader: the writer may send this many more chunks and bytes. */
  | { kind: 'wanted'; chunks: number; bytes: number }
  | { kind: 'chunks'; chunks: unknown[] }
  /** From the writer: there are no more chunks. From the reader: it takes no more chunks. */
  | { kind: 'end' }

export type BodyToCaller = ProgressBody | CallBody | StreamBody
export type BodyToTask = CallAnswerBody | StreamBody
