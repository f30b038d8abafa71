// The worker's end of the pipes of a process. What it says is written before the call returns: an answer given is an answer,
// whatever ends the process next. What the host says is read by the event loop.
import { Socket } from 'node:net'
import {
  ANSWERED,
  BEGUN,
  type FrameKind,
  FrameReader,
  HEAD_BYTES,
  LOADED,
  LOADING,
  writeHead,
} from '../shared/channel/frames.js'
import { errorForProcess, packMessage, unpackMessage } from '../shared/channel/process-values.js'
import type { HostPort, ProcessOrder, ToHost, ToWorker } from '../shared/messages/messages.js'
import type { TransferItem } from '../shared/messages/move.js'
import { invariant } from '../shared/platform/invariant.js'
import { writeSync } from '../shared/platform/node-modules.js'
import type { SlotBook } from './slot-book.js'

/** What one write of the system takes for sure. */
const LARGEST_PIECE_BYTES = 2 ** 26
/** What a host is sure to read in one turn. */
const ONE_READ_BYTES = 2 ** 15

export interface PipePortListener {
  onOrder(order: ProcessOrder): void
  /** The host is no more. */
  onEnd(): void
}

export class PipePort implements HostPort, SlotBook {
  readonly #writeFd: number
  readonly #control = Buffer.alloc(HEAD_BYTES)
  readonly #early: Buffer[] = []
  readonly #listener: PipePortListener
  #hasOrder = false
  #onMessage: ((message: ToWorker) => void) | null = null
  #onUnreadable: (() => void) | null = null

  constructor(readFd: number, writeFd: number, listener: PipePortListener) {
    this.#writeFd = writeFd
    this.#listener = listener
    const onFrame = {
      onValue: (bytes: Buffer) => this.#receive(bytes),
      onControl() {},
      onGarbage: () => listener.onEnd(),
    }
    const reader = new FrameReader(onFrame, 0)
    const input = new Socket({ fd: readFd, readable: true, writable: false })
    input.on('data', piece => reader.push(piece))
    input.on('error', () => {})
    input.on('close', () => listener.onEnd())
  }

  postMessage(message: ToHost, transferList?: readonly TransferItem[]): void {
    invariant(message !== 'bell', 'the lane does not reach into this process')
    const frame = packMessage(sendable(message), transferList)
    // A host that was busy finds the beginning of it, and must know that the task was in time.
    const isAnswer = message.kind === 'done' || message.kind === 'failed'
    if (frame.length > ONE_READ_BYTES && isAnswer) this.#tell(ANSWERED, message.slot)
    this.#write(frame)
  }

  on(event: 'message', listener: (message: ToWorker) => void): void
  on(event: 'messageerror', listener: () => void): void
  on(event: string, listener: ((message: ToWorker) => void) | (() => void)): void {
    if (event === 'messageerror') this.#onUnreadable = listener as () => void
    else this.#onMessage = listener
    if (this.#onMessage === null || this.#onUnreadable === null) return
    for (const bytes of this.#early.splice(0)) this.#deliver(bytes)
  }

  /** The host gives what is free only, and takes nothing back. */
  claim(slot: number, taskId: number): boolean {
    this.#tell(BEGUN, slot, taskId)
    return true
  }

  markLoading(slot: number, isLoading: boolean): void {
    this.#tell(isLoading ? LOADING : LOADED, slot)
  }

  /** What a process prints waits for nobody. */
  holdTime(): () => void {
    return () => {}
  }

  isCancelled(): boolean {
    return false
  }

  canBeTakenBack(): boolean {
    return false
  }

  maySpin(): boolean {
    return false
  }

  postCount(): number {
    return 0
  }

  #receive(bytes: Buffer): void {
    if (!this.#hasOrder) {
      this.#hasOrder = true
      this.#listener.onOrder(unpackMessage(bytes) as ProcessOrder)
    } else if (this.#onMessage === null || this.#onUnreadable === null) this.#early.push(Buffer.from(bytes))
    else this.#deliver(bytes)
  }

  #deliver(bytes: Buffer): void {
    let message: ToWorker
    try {
      message = unpackMessage(bytes) as ToWorker
    } catch {
      return this.#onUnreadable!()
    }
    this.#onMessage!(message)
  }

  #tell(kind: FrameKind, slot: number, taskId = 0): void {
    writeHead(this.#control, kind, slot, taskId)
    this.#write(this.#control)
  }

  #write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      try {
        at += writeSync(this.#writeFd, bytes, at, Math.min(bytes.length - at, LARGEST_PIECE_BYTES))
      } catch (failure) {
        const { code } = failure as NodeJS.ErrnoException
        // Nobody makes this end a non-blocking one; if a handler did, there is nothing better to do than to try again.
        if (code === 'EAGAIN') continue
        return this.#listener.onEnd()
      }
    }
  }
}

function sendable(message: Exclude<ToHost, 'bell'>): object {
  switch (message.kind) {
    case 'failed':
    case 'crashed':
    case 'startFailed':
    case 'teardownFailed':
      return { ...message, error: errorForProcess(message.error) }
    default:
      return message
  }
}
