// A call of the user, and its state so far.
import type { TimeLimit } from '../../src/shared/errors/pool-errors.js'
import type { ExchangePlan } from './exchange.js'
import type { SimulatedThread } from './thread.js'

/** The behaviour of the handler. */
export type Fate =
  | 'int'
  | 'object'
  | 'moved'
  /** A large result that the host decodes in slices. */
  | 'sizable'
  | 'throws'
  | 'uncloneable'
  | 'unreadable'
  | 'dies'
  /** The handler answers after the events of the programme. */
  | 'late'
  | 'never'
  /** The handler reports its progress before it answers. */
  | 'reports'
  /** The handler calls functions of the caller before it answers. */
  | 'calls'
  /** The call is a stream, and the handler writes chunks. */
  | 'streams'

export type PayloadKind =
  | 'int'
  | 'object'
  | 'large'
  /** The codec declines the payload, so the port carries it. */
  | 'declined'
  | 'transferred'
  | 'uncloneable'
  | 'unreadable'
  /** A getter of the payload calls the user's code. */
  | 'getter'

/** `missing` fails because there is no such function. `broken` fails because its file does not load. */
export type HandlerName = 'default' | 'other' | 'missing' | 'broken'

/** The option `key` of a call. `loose`: with the option `keyOrder: 'none'`. */
export type KeyPlan = 'none' | 'a' | 'b' | 'c' | 'loose'

/** The option `retry` of a call. */
export interface RetryPlan {
  attempts: number
  when: 'unsaid' | 'yes' | 'no' | 'throws'
  /** The second and later attempts succeed. */
  isCured: boolean
}

/** The way in which a worker exits by itself. */
export interface Death {
  exitCode: number
  with: 'nothing' | 'error' | 'memory'
}

export interface Call {
  readonly id: number
  /** A function of this other call has made the call. */
  readonly parent: Call | null
  readonly payload: PayloadKind
  readonly fate: Fate
  readonly death: Death
  /** The handler answers in the same step. */
  readonly isQuick: boolean
  readonly exchange: ExchangePlan
  readonly retry: RetryPlan | null
  readonly handler: HandlerName
  readonly controller: AbortController | null
  readonly isExclusive: boolean
  readonly key: KeyPlan
  readonly limit: 'none' | TimeLimit
  readonly wasAbortedBefore: boolean
  /** The queue was full at the time of the call. */
  metFullQueue: boolean
  state: 'pending' | 'fulfilled' | 'rejected'
  value: unknown
  startedBy: SimulatedThread[]
  /** The worker had to load the handler's file first. */
  wasLoading: boolean
  /** The caller's code has reacted to progress or to a call. */
  hasReacted: boolean
  /** The last progress that the handler has reported in the current attempt, and the last one that the caller has heard. */
  reported: number
  heard: number
  /** By attempt: how many functions of the caller run now. */
  readonly openLookUps: number[]
  /** The chunks that the reader has taken. */
  takenChunks: number
  /** The host has processed the abort of the call. */
  wasCancelled: boolean
  /** The answer of the handler. */
  answer: Fate | 'missing' | 'load' | null
}

/** A function of the other call has made this call, or one of the calls between the two. */
export function isWithin({ parent }: Call, other: Call): boolean {
  return parent !== null && (parent === other || isWithin(parent, other))
}

/** The option `group`, in a pool with groups. */
export function groupOf({ id }: Call): string {
  return id % 3 === 0 ? 'small' : 'large'
}

/** Calls with the same key run one after another. */
export function isSerial({ key }: Call): boolean {
  return key !== 'none' && key !== 'loose'
}

/** The caller waits for a call with the same key. */
export function waitsForItself({ key, parent }: Call): boolean {
  for (let outer = parent; outer !== null; outer = outer.parent) if (outer.key === key) return true
  return false
}

/**
 * A call may wait for a call of its functions, which may wait for the key of another call. So functions use keys in the order of the
 * alphabet, like locks. Their own keys are refused.
 */
export function mayUseKey(key: KeyPlan, parent: Call | null): boolean {
  if (parent === null || key === 'none' || key === 'loose') return true
  if (isSerial(parent) && key < parent.key) return false
  return mayUseKey(key, parent.parent)
}

export function isAborted({ controller }: Call): boolean {
  return controller?.signal.aborted === true
}

/** The behaviour of the handler in the current attempt. */
export function fateOf({ fate, retry, startedBy }: Call): Fate {
  return retry?.isCured && startedBy.length > 1 ? 'int' : fate
}

/** No other worker has started the call since. */
export function isLast({ startedBy }: Call, attempt: number): boolean {
  return startedBy.length === attempt
}

/** The last attempt failed in a way that `retry` allows to repeat. */
export function mayRunAgain(call: Call): boolean {
  return mayFollowThrow(call) || mayFollowDeath(call)
}

export function mayFollowThrow({ retry, startedBy, answer }: Call): boolean {
  return answer === 'throws' && retry?.when === 'yes' && startedBy.length < retry.attempts
}

export function mayFollowDeath({ retry, startedBy }: Call): boolean {
  const last = startedBy[startedBy.length - 1]
  if (retry === null || last === undefined || startedBy.length >= retry.attempts) return false
  return isEnding(last) && (retry.when === 'unsaid' || retry.when === 'yes')
}

export function isEnding({ isKilled, wasAskedToStop, life }: SimulatedThread): boolean {
  return isKilled || wasAskedToStop || life === 'dead'
}

/** Later calls must not start before this call. Other payloads may be refused when the host sends them, or may call the pool. */
export function keepsItsPlace(call: Call): boolean {
  return !isAborted(call) && inOrder.has(call.payload)
}

const inOrder = new Set<PayloadKind>(['int', 'object', 'large', 'declined', 'transferred'])

/** The sum is larger than the largest value of the lane. */
const PARTS = new Array<string>(5).fill('x'.repeat(120_000))

/** The expected answer of the handler. */
export function answerTo({ id }: Call, fate: 'int' | 'object' | 'moved' | 'sizable'): unknown {
  if (fate === 'int') return -id
  if (fate === 'sizable') return { answer: id, parts: PARTS }
  return fate === 'object' ? { answer: id, text: `to ${id}` } : { answer: id, bytes: new ArrayBuffer(8) }
}

export function isAnswerTo({ id }: Call, value: unknown): boolean {
  return value === -id || (value as { answer?: unknown } | null | undefined)?.answer === id
}
