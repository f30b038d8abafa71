// What a call may come to, by what has happened to it and to the pool.
import {
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
import { type Call, isAborted, isAnswerTo, isEnding, mayFollowDeath, mayFollowThrow } from './call.js'
import { BalancerError, WhenError } from './options.js'
import { describe, type World } from './world.js'

/** Workers may die so often under a task that they have not begun. */
const MOST_RETURNS = 5

export function whatIsWrongWith(call: Call, world: World): string | null {
  if (isRight(call, world)) return null
  const is = `is ${call.state} with ${describe(call.value)}`
  return call.state === 'fulfilled' ? `${is}; its handler's answer was ${call.answer}` : is
}

function isRight(call: Call, world: World): boolean {
  const { answer, value } = call
  if (call.state === 'fulfilled') {
    const isAnswered = answer === 'int' || answer === 'object' || answer === 'moved' || answer === 'sizable'
    return isAnswered && isAnswerTo(call, value)
  }
  const why = rejections.find(([type]) => value instanceof type)
  if (why !== undefined) return why[1](value as never, call, world)
  const isOwn = answer === 'throws' && (value as Error).message === `thrown by ${call.id}`
  const isOfDeath = call.begunBy.some(thread => thread.death?.error === value)
  return (isOwn && !mayFollowThrow(call)) || (isOfDeath && !mayFollowDeath(call))
}

/** No worker has it, as far as its caller may know. */
function mayWait({ begunBy, retry }: Call): boolean {
  return begunBy.length === 0 || retry !== null
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
  rejection(QueueFullError, (_error, call, world) => {
    const { maxQueue, queue } = world.programme.options
    return call.metFullQueue && call.begunBy.length === 0 && (Number.isFinite(maxQueue) || queue === 'fixed')
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
    (error, call) =>
      call.begunBy.some(thread => thread.death?.error === error.cause) && !mayFollowDeath(call),
  ),
  rejection(WorkerExitError, (error, call, world) => {
    const { options } = world.programme
    const thread = world.threads.find(({ number }) => number === error.workerId)
    if (call.begunBy.some(({ number }) => number === error.workerId))
      return isEnding(thread!) && !mayFollowDeath(call)
    if (!mayWait(call)) return false
    // What was given away with its ticket, or its message, cannot be given again.
    const isGivenAway = call.payload === 'transferred' || call.payload === 'unreadable'
    return (
      (isGivenAway && thread !== undefined && isEnding(thread)) ||
      (world.deaths > MOST_RETURNS && options.maxWorkers > 0)
    )
  }),
  rejection(WorkerStartError, (error, call, world) => {
    if (call.wasLoading && error.stage === 'load' && call.begunBy.some(isEnding)) return true
    // It was to run again, whatever its worker had still answered, and there was none to run it.
    if (call.retry !== null && call.begunBy.some(isEnding) && world.failedStarts > 0) return true
    if (call.answer === 'missing') return error.stage === 'handler'
    if (call.answer === 'load') return error.stage === 'load'
    if (call.wasLoading && error.stage === 'load') return true
    return mayWait(call) && world.failedStarts > 0
  }),
  rejection(RestartLimitError, ({ failures, retryAfter }, call, world) => {
    return mayWait(call) && world.failedStarts >= failures && Number.isFinite(retryAfter)
  }),
  rejection(TaskQuarantinedError, ({ workers }, { begunBy, retry }) => {
    return workers > 1 && workers <= begunBy.filter(isEnding).length && begunBy.length === retry?.attempts
  }),
  rejection(WhenError, (_error, { retry, begunBy }) => retry?.when === 'throws' && begunBy.length > 0),
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
