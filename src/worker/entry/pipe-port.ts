// The worker's end of the pipes of a process. `postMessage()` writes the whole message before it returns, so an answer
// is not lost when the process exits right after it. The event loop reads messages from the host.
import type { TransferItem } from '../../api/call-options.js'
import type { HostPort, ProcessOrder, ToHost, ToWorker } from '../../shared/messages/messages.js'
import {
  ANSWERED,
  type FrameKind,
  FrameReader,
  HEAD_BYTES,
  LOADED,
  LOADING,
  STARTED,
  writeHead,
} from '../../shared/messages/pipe-frames.js'
import { errorForProcess, packMessage } from '../../shared/messages/process-values.js'
import { unpackMessage } from '../../shared/messages/unpack-message.js'
import { invariant } from '../../shared/platform/invariant.js'
import { getBuiltinModule, writeSync } from '../../shared/platform/node-modules.js'
import type { TicketReport } from '../lane/piped-tickets.js'

/** The most bytes for one write. Every system accepts this many. */
const LARGEST_PIECE_BYTES = 2 ** 26
/** The host reads at least this much in one turn of its event loop. */
const ONE_READ_BYTES = 2 ** 15

const reportKinds: Record<TicketReport, FrameKind> = { started: STARTED, loading: LOADING, loaded: LOADED }

type ProfileOrder = Extract<ToWorker, { kind: 'profile' }>['order']

export interface PipePortListener {
  onOrder(order: ProcessOrder): void
  /** Called when the host has exited, or when its bytes are not frames. */
  onEnd(): void
}

export class PipePort implements HostPort {
  readonly #writeFd: number
  readonly #control = Buffer.alloc(HEAD_BYTES)
  readonly #early: Buffer[] = []
  readonly #listener: PipePortListener
  #hasOrder = false
  #onMessage: ((message: ToWorker) => void) | null = null
  #onUnreadable: (() => void) | null = null
  /** Called when the host wants a CPU profile of this process. */
  onProfile: ((order: ProfileOrder) => void) | null = null

  constructor(readFd: number, writeFd: number, listener: PipePortListener) {
    this.#writeFd = writeFd
    this.#listener = listener
    const onFrame = {
      onValue: (bytes: Buffer) => this.#receive(bytes),
      onControl() {},
      onGarbage: () => listener.onEnd(),
    }
    const reader = new FrameReader(onFrame, 0)
    // Only processes load this module of Node, although threads have the same code.
    const { Socket } = getBuiltinModule('node:net')
    const input = new Socket({ fd: readFd, readable: true, writable: false })
    // Bun opens a file descriptor only by this call.
    if (input.pending) input.connect({ fd: readFd } as never)
    input.on('data', piece => reader.push(piece))
    input.on('error', () => {})
    input.on('close', () => listener.onEnd())
  }

  postMessage(message: ToHost, transferList?: readonly TransferItem[]): void {
    invariant(message !== 'bell', 'the lane does not reach into this process')
    const frame = packMessage(sendable(message), transferList)
    // A busy host may read only the start of a large answer. The control frame before it shows that the task was in
    // time.
    const isAnswer = (message.kind === 'done' || message.kind === 'failed') && message.isItem !== true
    if (frame.length > ONE_READ_BYTES && isAnswer) this.#tell(ANSWERED, message.ticket)
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

  /** Reports a move of a ticket in a frame without a value, which needs no serialisation. */
  report(report: TicketReport, ticket: number, taskId: number): void {
    this.#tell(reportKinds[report], ticket, taskId)
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
    if (message !== 'bell' && message.kind === 'profile') this.onProfile?.(message.order)
    else this.#onMessage!(message)
  }

  #tell(kind: FrameKind, ticket: number, taskId = 0): void {
    writeHead(this.#control, kind, ticket, taskId)
    this.#write(this.#control)
  }

  #write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      try {
        at += writeSync(this.#writeFd, bytes, at, Math.min(bytes.length - at, LARGEST_PIECE_BYTES))
      } catch (failure) {
        const { code } = failure as NodeJS.ErrnoException
        // EAGAIN occurs only if a handler made the pipe non-blocking. Try again.
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
    case 'start-failed':
    case 'teardown-failed':
      return { ...message, error: errorForProcess(message.error) }
    default:
      return message
  }
}
