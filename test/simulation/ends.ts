// What must hold when chaos is over: first that the pool, if it is open, is whole and comes to rest; then that nothing is
// left of it when it is closed.
import { getEventListeners } from 'node:events'
import { RestartLimitError } from '../../src/shared/errors/pool-errors.js'
import type { Call } from './call.js'
import { BalancerError } from './options.js'
import { act, type Event } from './vocabulary.js'
import { plainSubmission, type World } from './world.js'

/** Longer than any pause before a restart, and than the moment for which a pool keeps its process alive. */
const LONG_MS = 2000
/** Of the pauses before starts, when many have failed. */
const LONGEST_PAUSE_MS = 30_000

/** All that can be answered is, and a plain task finds a pool that works. */
export async function comeToRest(world: World): Promise<void> {
  await world.calmDown(() => !isAnyPending(world))
  if (world.wrong !== null || world.closes.length > 0) return
  const waits = world.calls.find(call => call.state === 'pending' && call.begunBy.length === 0)
  const isHeldUp = world.calls.some(call => call.state === 'pending' && call.begunBy.length > 0)
  if (isHeldUp) return
  if (waits !== undefined) return world.fail(`call ${waits.id} waits for ever`)
  await world.advance(LONG_MS)
  let probe = await askPlainly(world)
  if (probe.value instanceof RestartLimitError) {
    await world.advance(probe.value.retryAfter)
    probe = await askPlainly(world)
  }
  if (probe.state !== 'fulfilled' && !(probe.value instanceof BalancerError))
    return world.fail(`a plain task, when all is calm, is ${probe.state}`)
  await world.advance(LONG_MS)
  // Where starts had failed, others came back after a pause.
  if (world.pool.workers.length < world.pool.minWorkers) await world.advance(LONGEST_PAUSE_MS)
  if (world.wrong === null) world.look(() => checkRest(world))
}

async function askPlainly(world: World): Promise<Call> {
  world.submit(plainSubmission)
  const probe = world.calls[world.calls.length - 1]!
  await world.calmDown(() => probe.state !== 'pending')
  return probe
}

/** The pool is closed, and nothing of it is left. */
export async function comeToEnd(world: World, end: Event): Promise<void> {
  act(world, world.closes.length === 0 ? end : { word: 'close', given: null })
  const isOver = () => world.closes.every(close => close.report !== null)
  await world.calmDown(isOver)
  if (world.wrong === null && !isOver()) {
    // With no closeTimeout it waits for who never answers.
    const waitsForEver = !Number.isFinite(world.pool.options.closeTimeout) && isAnyPending(world)
    if (!waitsForEver) return world.fail('the close never ends')
    act(world, { word: 'destroy', given: null })
    await world.calmDown(isOver)
  }
  if (world.wrong !== null) return
  if (!isOver()) return world.fail('the close never ends')
  world.look(() => checkEnd(world))
}

function checkRest(world: World): void {
  const { pool, clock } = world
  const { minWorkers, maxWorkers, idleTimeout } = pool.options
  const { queue, workers } = pool.stats()
  const least = workers.length < minWorkers
  const most = workers.length > (Number.isFinite(idleTimeout) ? minWorkers : maxWorkers)
  if (least || most)
    return world.fail(`${workers.length} workers are left, of ${minWorkers} to ${maxWorkers}`)
  if (workers.some(worker => worker.usage > 0))
    return world.fail('a worker says that it holds tasks; there are none')
  if (queue.size !== 0) return world.fail(`the queue counts ${queue.size} tasks; there are none`)
  if (pool.needsDrain) return world.fail('the pool says that it is full')
  if (clock.heldAnchors > 0 || clock.keepsAlive) return world.fail('an idle pool keeps the process alive')
  if (world.waiters.some(waiter => waiter.state === 'waiting'))
    return world.fail('somebody waits for room, and there is room')
  if (world.renewals.isAnyPending) return world.fail('a recycle never ends')
  checkListeners(world)
}

function checkEnd(world: World): void {
  const { pool, clock, calls } = world
  const waits = calls.find(call => call.state === 'pending')
  if (waits !== undefined) return world.fail(`call ${waits.id} is never settled`)
  const { tasks, state, queue, workers } = pool.stats()
  if (state !== 'closed') return world.fail(`the pool is ${state}`)
  if (workers.length > 0 || queue.size > 0)
    return world.fail(`${workers.length} workers and ${queue.size} tasks are left`)
  const alive = world.threads.find(thread => thread.life !== 'dead' || !thread.isGone)
  if (alive !== undefined) return world.fail(`worker ${alive.number} lives on`)
  if (clock.pending.length > 0) return world.fail(`timers are set: in ${clock.pending} ms`)
  if (clock.heldAnchors > 0) return world.fail('a closed pool keeps the process alive')
  if (world.waiters.some(waiter => waiter.state === 'waiting')) return world.fail('somebody waits for room')
  const fulfilled = calls.filter(call => call.state === 'fulfilled').length
  if (tasks.fulfilled !== fulfilled)
    return world.fail(`${tasks.fulfilled} tasks are counted as fulfilled, of ${fulfilled}`)
  if (tasks.accepted !== tasks.fulfilled + tasks.rejected + tasks.cancelled)
    return world.fail(`the counts do not add up: ${JSON.stringify(tasks)}`)
  if (world.renewals.isAnyPending) return world.fail('a recycle never ends')
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
