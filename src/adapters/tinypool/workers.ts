// The workers of a Tinypool: their ids, their channels, and the objects that `pool.threads` shows.
import type { ChildProcess } from 'node:child_process'
import type { Worker as Thread, Transferable as TransferItem } from 'node:worker_threads'
import type { WorkerView } from '../../index.js'
import type { ChannelMessage } from './orders.js'

/** For messages between the program and the task that runs in a process. */
export interface TinypoolChannel {
  /** Called once. The program sends a message to the worker by the given function. */
  onMessage?: (callback: (message: any) => void) => void
  /** Called with each message of the worker. */
  postMessage?: (message: any) => void
  /** Called when the worker has ended, or gets another channel. */
  onClose?: () => void
}

/** A worker in `pool.threads`. */
export class TinypoolWorker {
  readonly runtime: 'worker_threads' | 'child_process'
  readonly name: 'ThreadWorker' | 'ProcessWorker'
  readonly threadId: number
  readonly thread?: Thread
  readonly process?: ChildProcess
  readonly #view: WorkerView

  constructor(view: WorkerView) {
    const isProcess = view.process !== null
    this.#view = view
    this.runtime = isProcess ? 'child_process' : 'worker_threads'
    this.name = isProcess ? 'ProcessWorker' : 'ThreadWorker'
    this.threadId = isProcess ? view.pid : view.threadId
    if (view.process !== null) this.process = view.process
    if (view.thread !== null) this.thread = view.thread
  }

  get #target(): Thread | ChildProcess {
    return (this.thread ?? this.process)!
  }

  terminate(): Promise<void> {
    return this.#view.terminate()
  }

  postMessage(message: any, transferList?: readonly TransferItem[]): void {
    if (this.thread !== undefined) this.thread.postMessage(message, transferList as TransferItem[])
    else if (this.process!.connected) this.process!.send(message)
  }

  on(event: string, listener: (...values: any[]) => void): unknown {
    return this.#target.on(event as never, listener)
  }

  once(event: string, listener: (...values: any[]) => void): unknown {
    return this.#target.once(event as never, listener)
  }

  emit(event: string, ...values: any[]): boolean {
    return this.#target.emit(event as never, ...(values as never[]))
  }

  ref(): void {
    this.#target.ref()
  }

  unref(): void {
    this.#target.unref()
  }
}

/** A call with a channel. */
export interface ChannelCall {
  readonly channel: TinypoolChannel
  /** Resolved when the last message of the task has arrived. */
  onEnded(): void
}

interface WorkerRecord {
  readonly workerId: number
  worker: TinypoolWorker | null
  channel: TinypoolChannel | null
  isGone: boolean
  readonly exited: Promise<void>
  onExit: () => void
}

export class Workers {
  readonly #mostThreads: number
  /** By the id that the pool of lido gives. */
  readonly #records = new Map<number, WorkerRecord>()
  readonly #calls = new Map<number, ChannelCall>()
  #lastCall = 0

  constructor(mostThreads: number) {
    this.#mostThreads = mostThreads
  }

  /** Reserves an id from 1 to `maxThreads`. While a worker is replaced, both may have the same id. */
  reserve(lidoId: number): number {
    const records = [...this.#records.values()]
    const taken = records.filter(record => !record.isGone).map(record => record.workerId)
    let workerId = 1
    while (taken.includes(workerId)) workerId++
    if (workerId > this.#mostThreads) workerId = taken[0]!
    const { promise: exited, resolve: onExit } = deferred()
    this.#records.set(lidoId, { workerId, worker: null, channel: null, isGone: false, exited, onExit })
    return workerId
  }

  workerOf(view: WorkerView): TinypoolWorker {
    const record = this.#records.get(view.id)!
    if (record.worker === null) {
      record.worker = new TinypoolWorker(view)
      record.worker.once('exit', () => {
        this.#records.delete(view.id)
        record.channel?.onClose?.()
        record.onExit()
      })
    }
    return record.worker
  }

  /** Resolves when the worker has exited. */
  async exitOf(view: WorkerView): Promise<void> {
    await this.#records.get(view.id)?.exited
  }

  /** The host asked the worker to end, so another worker may have its id. */
  onLeft(view: WorkerView): void {
    const record = this.#records.get(view.id)
    if (record !== undefined) record.isGone = true
  }

  /** Registers a call with a channel, under the returned number. */
  addCall(call: ChannelCall): number {
    this.#calls.set(++this.#lastCall, call)
    return this.#lastCall
  }

  removeCall(number: number): void {
    this.#calls.delete(number)
  }

  onMessage(message: any, view: WorkerView): void {
    const record = this.#records.get(view.id)
    if (message?.__tinypool_worker_message__ !== true) {
      if (view.process !== null) record?.channel?.postMessage?.(message)
      return
    }
    const { started, ended } = message as ChannelMessage
    if (ended !== undefined) this.#calls.get(ended)?.onEnded()
    const call = this.#calls.get(started ?? 0)
    if (call !== undefined && record !== undefined) this.#setChannel(record, call.channel, view)
  }

  #setChannel(record: WorkerRecord, channel: TinypoolChannel, view: WorkerView): void {
    if (record.channel !== channel) record.channel?.onClose?.()
    record.channel = channel
    const { process } = view
    if (process === null) return
    channel.onMessage?.(message => {
      if (process.connected) process.send(message)
    })
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve!: () => void
  const promise = new Promise<void>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
