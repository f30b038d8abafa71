// The outcomes that a call may have, after the events that happened to the call and to the pool.
import { isDeepStrictEqual } from 'node:util'
import {
  InvalidTaskError,
  NotCloneableError,
  PoolClosedError,
  QueueFullError,
  RestartLimitError,
  TaskCancelledError,
  TaskQuarantinedError,
  TaskTimeoutError,
  WorkerExitError,
  WorkerMemoryError,
  WorkerStartError,
} from '../../src/shared/errors/pool-errors.js'
import {
  type Call,
  isAborted,
  isAnswerTo,
  isEnding,
  isSerial,
  mayFollowDeath,
  mayFollowThrow,
  waitsForItself,
} from './call.js'
import { CHUNKS, chunkOf, StoppedError } from './exchange.js'
import { BalancerError, WhenError } from './options.js'
import { describe, type World } from './world.js'

/** The host requeues an unstarted task after at most this number of worker deaths. */
const MOST_RETURNS = 5

export function whatIsWrongWith(call: Call, world: World): string | null {
  if (isRight(call, world)) return null
  const is = `is ${call.state} with ${describe(call.value)}`
  return call.state === 'fulfilled' ? `${is}, but the answer of the handler was ${call.answer}` : is
}

function isRight(call: Call, world: World): boolean {
  const { answer, value } = call
  if (call.state === 'fulfilled') {
    if (call.fate === 'streams') return answer === 'streams' && isDeepStrictEqual(value, allChunks(call))
    const isAnswered = answer === 'int' || answer === 'object' || answer === 'moved' || answer === 'sizable'
    return isAnswered && isAnswerTo(call, value)
  }
  const why = rejections.find(([type]) => value instanceof type)
  if (why !== undefined) return why[1](value as never, call, world)
  const isOfDeath = call.startedBy.some(thread => thread.death?.error === value)
  return (isOwnError(call) && !mayFollowThrow(call)) || (isOfDeath && !mayFollowDeath(call))
}

/** The call is rejected with the error that its handler has thrown. */
export function isOwnError({ id, answer, value }: Call): boolean {
  return answer === 'throws' && (value as Error | undefined)?.message === `thrown by ${id}`
}

function allChunks(call: Call): unknown[] {
  return Array.from({ length: CHUNKS }, (_, index) => chunkOf(call, index + 1))
}

/** The call may still be queued, as far as its caller knows. */
function mayWait({ startedBy, retry }: Call): boolean {
  return startedBy.length === 0 || retry !== null
}

type Rejection<Type extends Error> = [
  new (...args: never[]) => Type,
  (error: Type, call: Call, world: World) => boolean,
]

const rejections = [
  rejection(TaskTimeoutError, (error, call) => error.limit === call.limit && error.limitMs === 20),
  rejection(
    TaskCancelledError,
    (error, call) => isAborted(call) && error.reason === call.controller?.signal.reason,
  ),
  rejection(
    InvalidTaskError,
    ({ option }, call) => option === 'key' && isSerial(call) && waitsForItself(call),
  ),
  rejection(StoppedError, ({ first }, call) => {
    return call.fate === 'streams' && call.exchange.stopsEarly && isDeepStrictEqual(first, chunkOf(call, 1))
  }),
  rejection(QueueFullError, (_error, call, world) => {
    const { maxQueue, queue } = world.programme.options
    return (
      call.metFullQueue && call.startedBy.length === 0 && (Number.isFinite(maxQueue) || queue === 'limited')
    )
  }),
  rejection(PoolClosedError, ({ reason }, call, world) => {
    const { closes } = world
    switch (reason) {
      case 'closed':
        return closes.length > 0 && mayWait(call)
      case 'forced':
        return closes.some(({ how }) => how === 'force') && mayWait(call)
      case 'destroyed':
        return closes.some(({ how }) => how === 'destroy')
      case 'timeout':
        return closes[0] !== undefined && world.clock.now() >= closes[0].at + world.pool.options.closeTimeout
    }
  }),
  rejection(
    WorkerMemoryError,
    (error, call, world) =>
      (call.startedBy.some(thread => thread.death?.error === error.cause) && !mayFollowDeath(call)) ||
      // The payload of an unstarted call is to blame for the death of a worker that ran no task.
      (error.message.includes('does not fit into the heap') &&
        world.threads.some(({ number, death }) => number === error.workerId && death?.error === error.cause)),
  ),
  rejection(WorkerExitError, (error, call, world) => {
    const { options } = world.programme
    const thread = world.threads.find(({ number }) => number === error.workerId)
    if (call.startedBy.some(({ number }) => number === error.workerId))
      return isEnding(thread!) && !mayFollowDeath(call)
    if (!mayWait(call)) return false
    // A payload that was moved to a worker cannot be sent again.
    const isGivenAway = call.payload === 'transferred' || call.payload === 'unreadable'
    return (
      (isGivenAway && thread !== undefined && isEnding(thread)) ||
      (world.deaths > MOST_RETURNS && options.maxWorkers > 0)
    )
  }),
  rejection(WorkerStartError, (error, call, world) => {
    if (call.wasLoading && error.stage === 'load' && call.startedBy.some(isEnding)) return true
    // The call should have run again, but no worker could start.
    if (call.retry !== null && call.startedBy.some(isEnding) && world.failedStarts > 0) return true
    if (call.answer === 'missing') return error.stage === 'handler'
    if (call.answer === 'load') return error.stage === 'load'
    if (call.wasLoading && error.stage === 'load') return true
    return mayWait(call) && world.failedStarts > 0
  }),
  rejection(RestartLimitError, ({ failures, retryAfter }, call, world) => {
    return mayWait(call) && world.failedStarts >= failures && Number.isFinite(retryAfter)
  }),
  rejection(TaskQuarantinedError, ({ workers }, { startedBy, retry }) => {
    return workers > 1 && workers <= startedBy.filter(isEnding).length && startedBy.length === retry?.attempts
  }),
  rejection(WhenError, (_error, { retry, startedBy }) => retry?.when === 'throws' && startedBy.length > 0),
  rejection(NotCloneableError, ({ path }, call) => {
    if (path.startsWith('payload')) return call.payload === 'uncloneable' || call.payload === 'unreadable'
    return call.answer === 'uncloneable' ? path === 'result.method' : call.answer === 'unreadable'
  }),
  rejection(BalancerError, (_error, call, { programme: { options } }) => {
    return options.loadBalancer === 'throwing' && mayWait(call)
  }),
] as unknown as Rejection<Error>[]

function rejection<Type extends Error>(...rule: Rejection<Type>): Rejection<Type> {
  return rule
}
