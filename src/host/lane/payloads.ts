// Takes the payloads of tasks at the call: from then on the caller may change its own object.
//
// A primitive cannot change, so the task keeps it. Other payloads become bytes: of the lane's codec for threads, and of `node:v8` for
// processes. A value that cannot be bytes is cloned, for example one with a `SharedArrayBuffer` or a port. See docs/design/0031.

import type { TransferItem } from '../../api/call-options.js'
import type { TaskMessage } from '../../api/channels.js'
import { Decoder } from '../../shared/codec/decoder.js'
import { type Encoder, LARGE, NO_ROOM } from '../../shared/codec/encoder.js'
import { enterSending, leaveSending, ResourceUses, sendAs } from '../../shared/codec/handle.js'
import type { ShapeReader } from '../../shared/codec/shapes.js'
import { LARGE_SIZES, LargeDraft } from '../../shared/codec/writer.js'
import { type Carrier, captureCarried } from '../../shared/context/carried.js'
import { NotCloneableError } from '../../shared/errors/pool-errors.js'
import {
  LARGEST_CLONED_BYTES,
  refusalCause,
  refuseDetached,
  refusedPath,
  UnsendableError,
  UnsendableMember,
  unsendablePath,
} from '../../shared/errors/uncloneable-path.js'
import { encoderFor, shapeReaderFor } from '../../shared/lane/lane-codec.js'
import { carrierFrom } from '../../shared/lane/layout.js'
import type { HandlerRef } from '../../shared/messages/handler-ref.js'
import type { KnownResource, ToWorker } from '../../shared/messages/messages.js'
import { type Outgoing, outgoing } from '../../shared/messages/outgoing.js'
import { HEAD_BYTES } from '../../shared/messages/pipe-frames.js'
import { packMessage } from '../../shared/messages/process-values.js'
import { HANDLE_MARK } from '../../shared/platform/handle-mark.js'
import { structuredClone } from '../../shared/platform/node-modules.js'
import { type Call, type CallTerms, carryingTerms } from '../task/call.js'
import {
  ClonedPayload,
  EncodedPayload,
  PackedPayload,
  PostedPayload,
  payloadBytes,
  TakenPayload,
} from '../task/taken-payload.js'
import type { Task } from '../task/task.js'
import type { HandlerRegistry } from './handler-registry.js'
import type { PostedTasks } from './posted-tasks.js'
import { Resources } from './resources.js'

/** A task that carries more warns once. */
const LARGEST_CARRIER_BYTES = 4096
/** Small payloads share a buffer of this size. It stays in memory as long as one of them. */
const CHUNK_BYTES = 16 * 2 ** 10
/** The bytes of buffers are aligned, and stay so in a copy. */
const ALIGNMENT = 8
/** The chunks are copied, so small ones cost less. A message cannot carry a larger buffer. */
const MESSAGE_SIZES = { ...LARGE_SIZES, chunkBytes: 2 ** 14, largestBufferBytes: LARGEST_CLONED_BYTES }
/** Up to this size, copying bytes one by one is faster than a native copy. */
const MAX_LOOP_BYTES = 64

export interface PayloadsParts {
  posted: PostedTasks
  handlers: HandlerRegistry
  /** Workers claim tasks from the lane queue. */
  usesLaneQueue: boolean
  /** Payloads leave the process. */
  isForProcesses: boolean
  /** The program has a queue or a load balancer of its own, which sees the payloads as they were given. */
  keepsGiven: boolean
  tellWorkers: (message: ToWorker) => void
  now: () => number
  /** How many accepted tasks have not settled. */
  pendingTasks: () => number
}

export class Payloads {
  readonly #parts: PayloadsParts
  readonly #resources: Resources
  readonly #encoder: Encoder
  /** All bytes of the lane. */
  readonly #lane: Uint8Array
  #shapes: ShapeReader | null = null
  #chunk = new Uint8Array(0)
  #chunkUsed = 0

  constructor(parts: PayloadsParts) {
    const { layout } = parts.posted
    this.#parts = parts
    this.#resources = new Resources(parts.isForProcesses, parts.tellWorkers, parts.now, parts.pendingTasks)
    this.#encoder = encoderFor(layout)
    this.#lane = new Uint8Array(layout.memory)
  }

  /** False when a task with these options must be sent by message. */
  maySharePayload({ transferList, workerId, isExclusive, carrier }: CallTerms): boolean {
    const { usesLaneQueue, posted } = this.#parts
    if (!usesLaneQueue || transferList.length > 0 || workerId > 0) return false
    if (carrier !== undefined && !(carrier instanceof EncodedPayload)) return false
    return !isExclusive || posted.slots.perWorker === 1
  }

  /**
   * The call with the values of the carried stores. Call it in the async context of the caller. Throws `NotCloneableError`, which names
   * the store.
   */
  carry(call: Call, task: TaskMessage | undefined): Call {
    const values = captureCarried(task)
    if (values === null) return call
    const carrier = sendAs(null, 0, () => this.#takenCarrier(values))
    const bytes = payloadBytes(carrier) ?? 0
    if (bytes > LARGEST_CARRIER_BYTES) warnOfLargeCarrier(values, bytes)
    return { payload: call.payload, terms: carryingTerms(call.terms, carrier) }
  }

  #takenCarrier(values: Carrier): TakenPayload {
    try {
      return this.#takenValue(values, null, [], undefined, this.#parts.usesLaneQueue)
    } catch (failure) {
      for (const [name, value] of Object.entries(values)) this.#checkStore(name, value)
      throw failure
    }
  }

  /** Throws a `NotCloneableError` that names the store of the value. */
  #checkStore(name: string, value: unknown): void {
    try {
      this.#copied(value, [], undefined, true)
    } catch (failure) {
      if (!(failure instanceof NotCloneableError)) throw failure
      const path = failure.path.replace(/^payload/, `the carried store '${name}'`)
      throw new NotCloneableError(path, failure.cause)
    }
  }

  /**
   * Writes the carried values of a posted task after its payload. Returns their end. The caller checks that the lane can hold them:
   * `maySharePayload()`.
   */
  writeCarrier(carrier: TakenPayload, payloadTo: number): number {
    return this.#writeEncoded(carrier as EncodedPayload, carrierFrom(payloadTo), this.#lane.length)
  }

  /** Takes the payload of a task that cannot be posted at once. Throws `NotCloneableError`. */
  take(task: Task, isForLane: boolean): void {
    const { content, terms } = task
    // The call of a pinned task has made a copy for all workers.
    if (!isMutable(content) || content instanceof TakenPayload || task.isPinned) return
    const taken = this.#resources.send(task.createdAt, () =>
      this.#taken(content, terms, task.handlerId, isForLane),
    )
    setTaken(task, taken)
  }

  /**
   * Takes the payload of a call whose task comes later. Throws `NotCloneableError`.
   * @returns the call with the taken payload. Throws when a resource in it was released before that.
   */
  takeEarly(call: Call, acceptedAt: number): (startedAt: number) => Call {
    const { payload, terms } = call
    if (!isMutable(payload)) return () => call
    const { handlers } = this.#parts
    const uses = new ResourceUses()
    const taken = this.#resources.send(acceptedAt, () =>
      uses.recordDuring(() =>
        this.#taken(payload, terms, handlers.numberOf(terms.handler), this.maySharePayload(terms)),
      ),
    )
    return startedAt => {
      try {
        this.#resources.send(startedAt, () => uses.repeat())
      } catch (failure) {
        throw new NotCloneableError('payload', failure)
      }
      return { payload: taken, terms: termsFor(terms, taken) }
    }
  }

  #taken(value: unknown, terms: CallTerms, handlerId: number, isForLane: boolean): TakenPayload {
    const given = this.#parts.keepsGiven ? value : undefined
    const named = isForLane && !this.#parts.handlers.isKnown(handlerId) ? terms.handler : null
    return this.#takenValue(value, named, terms.transferList, given, isForLane)
  }

  #takenValue(
    value: unknown,
    named: HandlerRef | null,
    transferList: readonly TransferItem[],
    given: unknown,
    isForLane: boolean,
  ): TakenPayload {
    if (!isForLane) return this.#copied(value, transferList, given, true)
    const { scratch } = this.#parts.posted.layout
    const end = this.#encode(value, named, scratch.from, scratch.to)
    if (end === LARGE) return new PackedPayload(given, this.#encoder.takeLarge(), 'large')
    if (end < 0) return this.#copied(value, [], given, end === NO_ROOM)
    return this.#encoded(scratch.from, end, named !== null, given)
  }

  /** A text that is too large goes into its message as it is. A large message has no place for the handler. */
  #encode(value: unknown, named: HandlerRef | null, from: number, to: number): number {
    if (named !== null) return this.#encoder.encode([named, value], from, to)
    return this.#encoder.encode(value, from, to, typeof value === 'object' ? MESSAGE_SIZES : null)
  }

  /**
   * Writes the payload of a task between `from` and `to`, for the lane. Returns the end, or -1 when the value cannot be in the lane. Then
   * its payload is taken for a message. Throws `NotCloneableError`.
   */
  write(task: Task, from: number, to: number): number {
    const { content } = task
    if (content instanceof EncodedPayload) return this.#writeEncoded(content, from, to)
    // A value that was too large for the lane, or that the lane does not know.
    if (content instanceof TakenPayload) return -1
    const { handlerId, terms } = task
    const { handlers } = this.#parts
    const named = handlers.isKnown(handlerId) ? null : terms.handler
    const outer = enterSending(this.#resources, task.createdAt)
    const end = this.#encode(content, named, from, to)
    const large = end === LARGE ? this.#encoder.takeLarge() : null
    leaveSending(outer)
    // A getter of the payload may have cancelled the task or closed the pool.
    if (end < 0 && task.state === 'queued' && isMutable(content)) {
      const given = this.#givenOf(content)
      const taken =
        large === null
          ? this.#resources.send(task.createdAt, () => this.#copied(content, [], given, end === NO_ROOM))
          : new PackedPayload(given, large, 'large')
      setTaken(task, taken)
    }
    return end < 0 ? -1 : end
  }

  /** Call it when the task was posted with these bytes. */
  onPosted(task: Task, from: number, to: number, isNamed: boolean): void {
    const { content } = task
    if (!isMutable(content) || content instanceof TakenPayload) return
    const given = this.#givenOf(content)
    // A retry runs with the same bytes. Without a retry the bytes in the lane are enough.
    task.content =
      task.retry === null
        ? new PostedPayload(given, from, to, isNamed)
        : this.#encoded(from, to, isNamed, given)
  }

  /** The task leaves the lane, and may be posted again. Call it before the ticket is released. */
  onTakenBack(task: Task): void {
    const { content } = task
    if (!(content instanceof PostedPayload)) return
    task.content = this.#encoded(content.from, content.to, content.isNamed, content.given)
  }

  /** The value of a payload that was encoded for the lane, for a task that goes by message after all. */
  decode({ bytes, from, to, isNamed }: EncodedPayload): unknown {
    this.#shapes ??= shapeReaderFor(this.#parts.posted.layout)
    const decoder = new Decoder(bytes.buffer, this.#shapes)
    // Structured clone turns a handle into the same object. The worker replaces it.
    decoder.valueOfHandle = id => ({ [HANDLE_MARK]: id })
    const value = decoder.decode(from, to)
    return isNamed ? (value as [unknown, unknown])[1] : value
  }

  /** Encodes or sends a payload. The workers get the resources in it first. */
  send<T>(acceptedAt: number, send: () => T): T {
    return this.#resources.send(acceptedAt, send)
  }

  /** Keeps the resources in a payload, because later workers need them. Returns a function that ends it. */
  hold(payload: unknown): () => void {
    return this.#resources.hold(payload)
  }

  /** As `hold()`, for the option `workerData`. Throws `InvalidOptionError` for a released resource. */
  holdWorkerData(workerData: unknown): void {
    this.#resources.holdWorkerData(workerData)
  }

  /** The resources that all workers have. A new worker starts with this list. */
  get resources(): KnownResource[] {
    return this.#resources.known
  }

  /** Call it once for each task. */
  onSettled(task: Task): void {
    closeMoved(task)
    if (this.#resources.isReleasing) this.#resources.onSettled(task)
  }

  /** Call it when the pool is closed. */
  end(): void {
    this.#resources.end()
  }

  #givenOf(value: unknown): unknown {
    return this.#parts.keepsGiven ? value : undefined
  }

  /** @param prefersBytes for large values: bytes need one pass over the value, and a clone that is sent later needs two */
  #copied(
    value: unknown,
    transferList: readonly TransferItem[],
    given: unknown,
    prefersBytes: boolean,
  ): PackedPayload | ClonedPayload {
    try {
      if (this.#parts.isForProcesses) {
        const frame = packMessage({ payload: value }, transferList)
        return new PackedPayload(given, frame.subarray(HEAD_BYTES), 'packed')
      }
      const isPlain = prefersBytes && transferList.length === 0
      const message = isPlain ? this.#encoder.encodeLarge(value, new LargeDraft(MESSAGE_SIZES)) : null
      return message === null
        ? cloned(outgoing(value, transferList), given)
        : new PackedPayload(given, message, 'large')
    } catch (failure) {
      throw refusal(failure, value, transferList)
    }
  }

  #encoded(from: number, to: number, isNamed: boolean, given: unknown): EncodedPayload {
    const size = to - from
    if (size > CHUNK_BYTES / 4) {
      return new EncodedPayload(given, this.#lane.slice(from, to), 0, size, isNamed)
    }
    if (size > this.#chunk.length - this.#chunkUsed) {
      this.#chunk = new Uint8Array(CHUNK_BYTES)
      this.#chunkUsed = 0
    }
    const at = this.#chunkUsed
    this.#chunkUsed += Math.ceil(size / ALIGNMENT) * ALIGNMENT
    copyBytes(this.#lane, from, to, this.#chunk, at)
    return new EncodedPayload(given, this.#chunk, at, at + size, isNamed)
  }

  #writeEncoded({ bytes, from, to }: EncodedPayload, at: number, end: number): number {
    if (to - from > end - at) return -1
    copyBytes(bytes, from, to, this.#lane, at)
    return at + to - from
  }
}

/** The caller can change the value, or it cannot be sent. */
function isMutable(value: unknown): boolean {
  return (
    (typeof value === 'object' && value !== null) || typeof value === 'function' || typeof value === 'symbol'
  )
}

function cloned({ value, transferList }: Outgoing, given: unknown): ClonedPayload {
  refuseDetached(transferList)
  const [copy, ...items] = structuredClone([value, ...transferList], { transfer: [...transferList] as never })
  return new ClonedPayload(given, copy, items as TransferItem[])
}

/** Parts of the payload may have been moved to the host, so only one worker can receive it. */
function setTaken(task: Task, content: TakenPayload): void {
  task.content = content
  task.terms = termsFor(task.terms, content)
  if (task.terms.retry === null) task.retry = null
}

function termsFor(terms: CallTerms, content: TakenPayload): CallTerms {
  if (!(content instanceof ClonedPayload) || content.transferList.length === 0) return terms
  return { ...terms, transferList: content.transferList, retry: null }
}

/** Closes the moved ports and files of a task that was never sent: their owner cannot close them any more. */
function closeMoved({ content }: Task): void {
  if (!(content instanceof ClonedPayload)) return
  for (const item of content.transferList as readonly { close?: () => unknown }[]) {
    Promise.resolve(item.close?.()).catch(() => {})
  }
}

/** Also for a payload that is refused while it is sent. */
export function refusal(
  failure: unknown,
  payload: unknown,
  transferList: readonly TransferItem[],
): NotCloneableError {
  const refused =
    failure instanceof UnsendableError || failure instanceof UnsendableMember
      ? refusedPath(failure, payload, 'payload')
      : unsendablePath(payload, transferList)
  // The path ends at a handle, not inside it.
  const path = refused.replace(`["${HANDLE_MARK}"]`, '')
  return new NotCloneableError(path, refusalCause(failure, payload, transferList))
}

function copyBytes(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): void {
  if (to - from > MAX_LOOP_BYTES) target.set(source.subarray(from, to), at)
  else for (let index = from; index < to; index++) target[at + index - from] = source[index]!
}

let hasWarnedOfCarrier = false

/** Once for each thread of the program. */
function warnOfLargeCarrier(values: Carrier, bytes: number): void {
  if (hasWarnedOfCarrier) return
  hasWarnedOfCarrier = true
  const names = Object.keys(values).map(name => `'${name}'`)
  process.emitWarning(
    `A task carries ${Math.round(bytes / 1024)} KiB of its caller's context: the stores ${names.join(', ')}. Every task copies them. Choose the part that handlers need with the option 'pick' of carry().`,
    { type: 'LidoWarning', code: 'LIDO_LARGE_CONTEXT' },
  )
}
