// What host and worker say to each other over a channel. Each union is named for its reader.
import type { MessagePort } from 'node:worker_threads'
import type { SharedWords } from '../base/atomics.js'
import type { PackedThrown } from '../errors/remote-error.js'

/** The first word to a new worker, over its parent port; everything after it goes over `port`. */
export interface StartOrder {
  port: MessagePort
  claims: SharedWords
  niceIncrement: number
  /** Loaded before the worker says it is ready; `null` when the pool has no file of its own. */
  preload: Handler | null
}

export interface Handler {
  /** An absolute path. */
  filename: string
  name: string
}

export type ToWorker =
  /** `handler` says what `handlerId` stands for, until the worker has answered a task with it. */
  | {
      kind: 'run'
      taskId: number
      slot: number
      handlerId: number
      handler: Handler | null
      payload: unknown
    }
  /** Say which tasks you hold: an answer arrived that could not be read. */
  | { kind: 'audit' }
  /** End yourself; sent instead of a kill while the worker may be loading. */
  | { kind: 'stop' }

export type ToHost =
  | { kind: 'ready' }
  /** The file named at the start did not load; the worker ends after this. */
  | { kind: 'startFailed'; error: PackedThrown }
  | { kind: 'done'; taskId: number; slot: number; result: unknown }
  | { kind: 'failed'; taskId: number; slot: number; reason: FailureReason; error: PackedThrown; path: string }
  /** Of the first `received` tasks posted, those begun and not answered. Every answer given before was sent before. */
  | { kind: 'holding'; taskIds: number[]; received: number }
  /** A file failed again after it was tried again; a fresh worker may fare better. */
  | { kind: 'stale' }
  /** The `ordinal`-th task posted on this channel could not be read by the worker. */
  | { kind: 'unreadable'; ordinal: number }

/**
 * `thrown`: by the handler. `load`: its file did not load. `missing`: the file has no such function. `result`: what it
 * returned cannot be sent; only then `path` says what of it.
 */
export type FailureReason = 'thrown' | 'load' | 'missing' | 'result'
