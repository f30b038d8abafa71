// One call of the user's, and what has become of it so far.
import type { TimeLimit } from '../../src/shared/errors/pool-errors.js'
import type { SimulatedThread } from './thread.js'

/** What its handler does with it. */
export type Fate =
  | 'int'
  | 'object'
  | 'moved'
  /** Read in slices. */
  | 'sizable'
  | 'throws'
  | 'uncloneable'
  | 'unreadable'
  | 'dies'
  /** It answers when all has calmed down. */
  | 'late'
  | 'never'

export type PayloadKind =
  | 'int'
  | 'object'
  | 'large'
  /** What the codec declines, so it travels by the port. */
  | 'declined'
  | 'transferred'
  | 'uncloneable'
  | 'unreadable'
  /** Reading it calls the user's code. */
  | 'getter'

/** `missing` and `broken` fail, one because there is no such function, one because its file does not load. */
export type HandlerName = 'default' | 'other' | 'missing' | 'broken'

/** The call's option `retry`. */
export interface RetryPlan {
  attempts: number
  when: 'unsaid' | 'yes' | 'no' | 'throws'
  /** From its second attempt on, all goes well. */
  isCured: boolean
}

/** How a worker ends by itself. */
export interface Death {
  exitCode: number
  with: 'nothing' | 'error' | 'memory'
}

export interface Call {
  readonly id: number
  readonly payload: PayloadKind
  readonly fate: Fate
  readonly death: Death
  /** The handler answers in the same step. */
  readonly isQuick: boolean
  readonly retry: RetryPlan | null
  readonly handler: HandlerName
  readonly controller: AbortController | null
  readonly isExclusive: boolean
  readonly limit: 'none' | TimeLimit
  readonly wasAbortedBefore: boolean
  /** The pool's queue held its limit when the call was made. */
  metFullQueue: boolean
  state: 'pending' | 'fulfilled' | 'rejected'
  value: unknown
  begunBy: SimulatedThread[]
  /** It had to load the handler's file first. */
  wasLoading: boolean
  /** The host has heard of its abort, and dealt with it. */
  wasCancelled: boolean
  /** What its handler has answered. */
  answer: Fate | 'missing' | 'load' | null
}

export function isAborted({ controller }: Call): boolean {
  return controller?.signal.aborted === true
}

/** What its handler does with it this time. */
export function fateOf({ fate, retry, begunBy }: Call): Fate {
  return retry?.isCured && begunBy.length > 1 ? 'int' : fate
}

/** Its last attempt has failed in a way that lets it be run again. */
export function mayRunAgain(call: Call): boolean {
  return mayFollowThrow(call) || mayFollowDeath(call)
}

export function mayFollowThrow({ retry, begunBy, answer }: Call): boolean {
  return answer === 'throws' && retry?.when === 'yes' && begunBy.length < retry.attempts
}

export function mayFollowDeath({ retry, begunBy }: Call): boolean {
  const last = begunBy[begunBy.length - 1]
  if (retry === null || last === undefined || begunBy.length >= retry.attempts) return false
  return isEnding(last) && (retry.when === 'unsaid' || retry.when === 'yes')
}

export function isEnding({ isKilled, wasToldToStop, life }: SimulatedThread): boolean {
  return isKilled || wasToldToStop || life === 'dead'
}

/** Calls made later must not start before it. Other payloads may be refused when the host sends them, or call the pool. */
export function keepsItsPlace(call: Call): boolean {
  return !isAborted(call) && inOrder.has(call.payload)
}

const inOrder = new Set<PayloadKind>(['int', 'object', 'large', 'declined', 'transferred'])

/** Together more than the lane takes. */
const PARTS = new Array<string>(5).fill('x'.repeat(120_000))

/** What its handler is to answer. */
export function answerTo({ id }: Call, fate: 'int' | 'object' | 'moved' | 'sizable'): unknown {
  if (fate === 'int') return -id
  if (fate === 'sizable') return { answer: id, parts: PARTS }
  return fate === 'object' ? { answer: id, text: `to ${id}` } : { answer: id, bytes: new ArrayBuffer(8) }
}

export function isAnswerTo({ id }: Call, value: unknown): boolean {
  return value === -id || (value as { answer?: unknown } | null | undefined)?.answer === id
}
