// What the host and the workers of lido/tinypool tell each other.

import type { SerializedError } from '../../kit.js'

/** The private part of a worker's `workerData`. */
export interface WorkerOrder {
  workerId: number
  filename: string | null
  name: string
  teardown: string | null
  /** Each task ends its worker. */
  isIsolated: boolean
  /** Tasks and results are converted to JSON and back, as by the channel of a Tinypool process. */
  isJson: boolean
}

export interface TaskOrder {
  task: unknown
  /** Default: the pool's. */
  filename?: string
  /** Default: the pool's. */
  name?: string
  /** Present if the call has a channel. The worker reports when the task starts and ends. */
  channel?: number
}

/** A message of a worker over the channel of the user. Programs filter messages by this mark. */
export interface ChannelMessage {
  __tinypool_worker_message__: true
  started?: number
  ended?: number
}

/** The only function of the host that the worker of an isolated task calls. */
export const ISOLATED_END = 'tinypool.end'

/** How an isolated task ended. */
export type IsolatedEnd = { result: unknown } | { error: SerializedError }

/** The value that JSON makes of a task or a result. */
export function throughJson(value: unknown): unknown {
  return (JSON.parse(JSON.stringify({ value })) as { value?: unknown }).value
}

/** What a worker of Tinypool knows about itself: the value of `process.__tinypool_state__`. */
export interface TinypoolState {
  isTinypoolWorker: boolean
  isWorkerThread?: boolean
  isChildProcess?: boolean
  workerData: any
  workerId: number
}

interface TinypoolProcess {
  __tinypool_state__?: TinypoolState
}

/** `undefined` outside workers. */
export function tinypoolState(): TinypoolState | undefined {
  return (process as TinypoolProcess).__tinypool_state__
}

export function setTinypoolState(state: TinypoolState): void {
  ;(process as TinypoolProcess).__tinypool_state__ = state
}
