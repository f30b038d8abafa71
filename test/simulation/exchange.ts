// The side of the caller while a task runs: it hears progress, gives functions to the handler, and reads a stream.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RunOptions } from '../../src/api/call-options.js'
import type { PoolStream } from '../../src/api/results.js'
import type { Call } from './call.js'
import type { Event, Submission } from './vocabulary.js'
import type { World } from './world.js'

export interface ExchangePlan {
  /** How many values the handler reports. */
  reports: number
  /** How many functions the handler calls at once. */
  lookUps: number
  lookUp: 'atOnce' | 'later' | 'throws' | 'runs'
  /** The task that the function runs in the same pool. */
  nested: Submission | null
  /** The first attempt throws without waiting for its calls. */
  isHasty: boolean
  highWaterMark: number
  /** The chunks are primitives, which the worker sends in groups. */
  isGrouped: boolean
  /** The reader stops after the first chunk. */
  stopsEarly: boolean
  /** The handler throws after its last value or chunk. */
  throws: boolean
  /** The action of the user's code in the first call of `onProgress` or of a function. */
  inCallback: Event | null
}

/** The call for which a function runs now. */
export const callers = new AsyncLocalStorage<Call>()

export const CHUNKS = 3

/** The value that a handler reports. */
export interface Report {
  attempt: number
  count: number
}

/** The arguments of a function, and also its result. */
export type LookUp = [id: number, attempt: number, index: number]

/** The reader has stopped after the first chunk. */
export class StoppedError extends Error {
  readonly first: unknown
  /** The pool counts the task as cancelled. False: the task had settled before. */
  readonly hasCancelled: boolean

  constructor(first: unknown, hasCancelled: boolean) {
    super('the reader has stopped')
    this.first = first
    this.hasCancelled = hasCancelled
  }
}

export function chunkOf({ id, exchange }: Call, count: number): unknown {
  return exchange.isGrouped ? `${id}, ${count}` : [id, count]
}

export function exchangeOptions(world: World, call: Call): Pick<RunOptions, 'onProgress' | 'functions'> {
  if (call.fate === 'reports') return { onProgress: (value: Report) => onProgress(world, call, value) }
  if (call.fate !== 'calls') return {}
  return { functions: { lookUp: (...args: LookUp) => callers.run(call, () => lookUp(world, call, args)) } }
}

function onProgress(world: World, call: Call, { attempt, count }: Report): void {
  const at = `call ${call.id} hears the progress ${count} of attempt ${attempt}`
  if (call.state !== 'pending') return world.fail(`${at} after the call was ${call.state}`)
  if (attempt !== call.startedBy.length) return world.fail(`${at} in attempt ${call.startedBy.length}`)
  if (count <= call.heard) return world.fail(`${at} after the progress ${call.heard}`)
  call.heard = count
  world.note(`  ${at}`)
  react(world, call)
}

async function lookUp(world: World, call: Call, args: LookUp): Promise<LookUp> {
  const [id, attempt, index] = args
  const { id: ownId, state, startedBy, openLookUps, exchange } = call
  if (id !== ownId || state !== 'pending' || attempt !== startedBy.length) {
    world.fail(
      `the function of call ${ownId} (${state}, attempt ${startedBy.length}) gets [${args.join(', ')}]`,
    )
  }
  world.note(`  the function of call ${id} begins, number ${index} of attempt ${attempt}`)
  openLookUps[attempt] = (openLookUps[attempt] ?? 0) + 1
  react(world, call)
  try {
    if (exchange.lookUp === 'throws') throw new RangeError(`thrown by ${id}`)
    if (exchange.lookUp === 'later') for (let turns = 0; turns <= index; turns++) await world.nextTurn()
    if (exchange.lookUp === 'runs') await world.submit(exchange.nested!)
    return args
  } finally {
    openLookUps[attempt]!--
  }
}

function react(world: World, call: Call): void {
  if (call.hasReacted) return
  call.hasReacted = true
  world.react(call.exchange.inCallback)
}

/** Resolves to all chunks. Rejects with `StoppedError` when the reader stops. */
export async function readChunks(world: World, call: Call, stream: PoolStream): Promise<unknown[]> {
  const chunks: unknown[] = []
  const take = (chunk: unknown) => {
    call.takenChunks++
    chunks.push(chunk)
  }
  if (!call.exchange.stopsEarly) {
    await stream.forEach(take)
    return chunks
  }
  const { done, value } = await stream.next()
  if (done === true) return chunks
  take(value)
  const cancelled = world.cancelledTasks
  void stream.return()
  call.wasCancelled = true
  throw new StoppedError(value, world.cancelledTasks > cancelled)
}
