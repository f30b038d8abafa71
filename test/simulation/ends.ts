// The rules for the end of a run. An open pool must become idle and still run tasks. A closed pool must leave nothing behind.
import { getEventListeners } from 'node:events'
import { RestartLimitError } from '../../src/shared/errors/pool-errors.js'
import type { Call } from './call.js'
import { StoppedError } from './exchange.js'
import { BalancerError } from './options.js'
import { act, type Event } from './vocabulary.js'
import { plainSubmission, type World } from './world.js'

/** Longer than any pause before a restart, and longer than an idle pool keeps its process alive. */
const LONG_MS = 2000
/** The longest pause before a start after many failed starts. */
const LONGEST_PAUSE_MS = 30_000

/** Waits until all possible answers have arrived, and checks that the pool runs a plain task. */
export async function comeToRest(world: World): Promise<void> {
  await world.calmDown(() => !isAnyPending(world))
  if (world.wrong !== null || world.closes.length > 0) return
  const unstarted = world.calls.find(call => call.state === 'pending' && call.startedBy.length === 0)
  if (mayWaitForEver(world)) return
  if (unstarted !== undefined) return world.fail(`call ${unstarted.id} never starts`)
  const started = world.calls.find(call => call.state === 'pending')
  if (started !== undefined) return world.fail(`call ${started.id} never settles`)
  await world.advance(LONG_MS)
  let probe = await askPlainly(world)
  if (probe.value instanceof RestartLimitError) {
    await world.advance(probe.value.retryAfter)
    probe = await askPlainly(world)
  }
  if (probe.state !== 'fulfilled' && !(probe.value instanceof BalancerError))
    return world.fail(`a plain task after all events is ${probe.state}, expected fulfilled`)
  await world.advance(LONG_MS)
  // After failed starts, the missing workers start after a pause.
  if (world.pool.workers.length < world.pool.minWorkers) await world.advance(LONGEST_PAUSE_MS)
  if (world.wrong === null) world.look(() => checkRest(world))
}

async function askPlainly(world: World): Promise<Call> {
  void world.submit(plainSubmission)
  const probe = world.calls[world.calls.length - 1]!
  await world.calmDown(() => probe.state !== 'pending')
  return probe
}

/** Closes the pool, and checks that nothing of it is left. */
export async function comeToEnd(world: World, end: Event): Promise<void> {
  act(world, world.closes.length === 0 ? end : { word: 'close', given: null })
  const isOver = () => world.closes.every(close => close.report !== null)
  await world.calmDown(isOver)
  if (world.wrong === null && !isOver()) {
    // Without a closeTimeout, close() waits for handlers that never answer.
    const mayNeverFinish = !Number.isFinite(world.pool.options.closeTimeout) && isAnyPending(world)
    if (!mayNeverFinish) return world.fail('the close never finishes')
    act(world, { word: 'destroy', given: null })
    await world.calmDown(isOver)
  }
  if (world.wrong !== null) return
  if (!isOver()) return world.fail('the close never finishes')
  world.look(() => checkEnd(world))
}

function checkRest(world: World): void {
  const { pool, clock } = world
  const { minWorkers, maxWorkers, idleTimeout } = pool.options
  const { queue, workers } = pool.stats()
  // Idle workers above the minimum stop when `idleTimeout` is over.
  const most = Number.isFinite(idleTimeout) ? minWorkers : maxWorkers
  if (workers.length < minWorkers || workers.length > most)
    return world.fail(`${workers.length} workers are alive, expected ${minWorkers} to ${most}`)
  if (workers.some(worker => worker.usage > 0))
    return world.fail('a worker has a usage above 0, although no task runs')
  if (queue.size !== 0) return world.fail(`the queue size is ${queue.size}, although no task is queued`)
  if (pool.needsDrain) return world.fail('needsDrain is true, although no task is queued')
  if (clock.heldAnchors > 0 || clock.keepsAlive) return world.fail('an idle pool keeps the process alive')
  if (world.waiters.some(waiter => waiter.state === 'waiting'))
    return world.fail('a call of room() is pending, although the queue has room')
  if (world.renewals.isAnyPending) return world.fail('a call of recycle() or reload() never settles')
  checkListeners(world)
}

function checkEnd(world: World): void {
  const { pool, clock, calls } = world
  const pending = calls.find(call => call.state === 'pending')
  if (pending !== undefined) return world.fail(`call ${pending.id} never settles`)
  const { tasks, state, queue, workers } = pool.stats()
  if (state !== 'closed') return world.fail(`the pool is ${state}`)
  if (workers.length > 0 || queue.size > 0)
    return world.fail(`${workers.length} workers and ${queue.size} tasks are left`)
  const alive = world.threads.find(thread => thread.life !== 'dead' || !thread.isGone)
  if (alive !== undefined) return world.fail(`worker ${alive.number} is still alive`)
  if (clock.pending.length > 0) return world.fail(`timers are left, due in ${clock.pending} ms`)
  if (clock.heldAnchors > 0) return world.fail('a closed pool keeps the process alive')
  if (world.waiters.some(waiter => waiter.state === 'waiting'))
    return world.fail('a call of room() is pending in a closed pool')
  const fulfilled = calls.filter(call => call.state === 'fulfilled').length
  // The task had settled before its reader stopped.
  const unknown = calls.filter(({ value }) => value instanceof StoppedError && !value.hasCancelled).length
  if (tasks.fulfilled < fulfilled || tasks.fulfilled > fulfilled + unknown)
    return world.fail(
      `the pool counts ${tasks.fulfilled} fulfilled tasks, but ${fulfilled} calls are fulfilled`,
    )
  if (tasks.accepted !== tasks.fulfilled + tasks.rejected + tasks.cancelled)
    return world.fail(
      `accepted is not the sum of fulfilled, rejected and cancelled: ${JSON.stringify(tasks)}`,
    )
  if (world.renewals.isAnyPending) return world.fail('a call of recycle() or reload() never settles')
  checkListeners(world)
}

function checkListeners(world: World): void {
  const left = world.controllers.reduce(
    (sum, { signal }) => sum + getEventListeners(signal, 'abort').length,
    0,
  )
  if (left > 0) world.fail(`${left} listeners are left on signals`)
}

function isAnyPending({ calls }: World): boolean {
  return calls.some(call => call.state === 'pending')
}

/** A handler that never answers runs. */
function mayWaitForEver({ calls }: World): boolean {
  return calls.some(
    ({ state, fate, startedBy }) => state === 'pending' && fate === 'never' && startedBy.length > 0,
  )
}
