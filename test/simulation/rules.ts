// The rules for an open pool: at each start of a task, at each settlement, and at the end of each turn of the host. `outcomes` has
// the allowed outcomes of a call. `ends` has the rules for the end of a run.
import { type Call, groupOf, isAborted, isSerial, isWithin, keepsItsPlace, mayRunAgain } from './call.js'
import { GROUP_LIMIT } from './options.js'
import { isOwnError, whatIsWrongWith } from './outcomes.js'
import type { Running, SimulatedThread } from './thread.js'
import type { World } from './world.js'

export class Rules {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  onStarted(thread: SimulatedThread, call: Call): void {
    const world = this.#world
    const { concurrentTasksPerWorker, maxTasksPerWorker } = world.programme.options
    const at = `call ${call.id} starts on worker ${thread.number}`
    if (call.startedBy.length > 0 && !mayRunAgain(call))
      return world.fail(`${at}, but worker ${call.startedBy[0]!.number} has already started it`)
    if (call.state !== 'pending') return world.fail(`${at} after the call was ${call.state}`)
    if (call.wasCancelled) return world.fail(`${at} after the call was cancelled`)
    // No other worker is sure to run these tasks.
    const isGivenAway = call.payload === 'transferred' || call.payload === 'unreadable'
    const mayBorrow = world.calls.some(
      other => other.startedBy.includes(thread) && this.#waitsFor(other, call),
    )
    if (thread.startedTasks >= maxTasksPerWorker && !isGivenAway && !mayBorrow)
      return world.fail(
        `${at}, which has already started ${thread.startedTasks} tasks (limit ${maxTasksPerWorker})`,
      )
    const beside = thread.running.filter(running => !isAborted(running.call))
    const using = beside.filter(running => !this.#lendsTo(running, call))
    // The task of an exclusive task may start beside tasks that waited for their callers before it and now go on.
    const isOfExclusive = beside.some(
      running => running.call.isExclusive && this.#waitsFor(running.call, call),
    )
    if (using.length >= concurrentTasksPerWorker && !(isOfExclusive && concurrentTasksPerWorker > 1))
      return world.fail(`${at} beside ${using.length} running tasks, with ${concurrentTasksPerWorker} slots`)
    // With one slot, the option `exclusive` has no effect.
    const isBesideExclusive = using.some(running => running.call.isExclusive)
    const mustBeAlone = call.isExclusive && (using.length > 0 || (beside.length > 0 && call.parent === null))
    if ((isBesideExclusive || (mustBeAlone && !isOfExclusive)) && concurrentTasksPerWorker > 1)
      return world.fail(`${at} beside another task, although one of the two is exclusive`)
    if (isSerial(call)) this.#checkKey(call, at)
    if (world.programme.options.queue === 'groups') this.#checkGroup(call, at)
    const isInOrder = this.#startsInOrder && call.parent === null && call.key === 'none'
    const earlier = isInOrder ? this.#earlierThan(call) : undefined
    if (earlier !== undefined)
      world.fail(`${at} before the earlier call ${earlier.id}, which is still queued`)
  }

  /** A task of a function may use the slot of the task that waits for it, also beside the limit of its group. */
  #checkGroup(call: Call, at: string): void {
    const world = this.#world
    if (call.parent !== null) return
    const group = groupOf(call)
    const beside = world.threads.flatMap(({ life, running }) =>
      life === 'dead'
        ? []
        : running.filter(({ call: other }) => other.parent === null && groupOf(other) === group),
    )
    if (beside.length >= GROUP_LIMIT)
      world.fail(`${at} beside ${beside.length} calls of the group '${group}'`)
  }

  /** Of the calls with the same key, one runs at a time, in the order of the calls. */
  #checkKey(call: Call, at: string): void {
    const world = this.#world
    const same = world.calls.filter(({ key }) => key === call.key)
    const isRunning = (other: Call) =>
      world.threads.some(
        ({ life, running }) => life !== 'dead' && running.some(({ call: now }) => now === other),
      )
    const beside = same.find(isRunning)
    if (beside !== undefined)
      return world.fail(`${at}, but call ${beside.id} has the key '${call.key}' and runs`)
    // A stream first takes its payload, and then submits its task. A getter of the payload may submit calls in between.
    if (call.payload === 'getter' && call.fate === 'streams') return
    // The host may have rejected an earlier call that has not started. A call that starts now was not rejected.
    const later = same.find(other => other.id > call.id && other.startedBy.length > 0)
    if (later !== undefined)
      world.fail(`${at} after the later call ${later.id}, which has the same key '${call.key}'`)
  }

  onSettled(call: Call): void {
    const world = this.#world
    const wrong = whatIsWrongWith(call, world)
    if (wrong !== null) world.fail(`call ${call.id} (${call.payload}, ${call.fate}) ${wrong}`)
    const isAnswered = call.state === 'fulfilled' || isOwnError(call)
    if (isAnswered && call.heard !== call.reported)
      world.fail(`call ${call.id} is ${call.state} after the progress ${call.heard} of ${call.reported}`)
  }

  /** Checks the pool at the end of a turn of the host. */
  lookOn(): void {
    const world = this.#world
    const { pool, clock } = world
    this.#countWorkers()
    const { tasks, queue } = pool.stats()
    const pending = tasks.accepted - tasks.fulfilled - tasks.rejected - tasks.cancelled
    if (pending < 0) return world.fail(`${-pending} more tasks were settled than accepted`)
    if (pending !== tasks.waiting + tasks.inFlight) {
      return world.fail(
        `${pending} tasks are not settled, but ${tasks.waiting} are waiting and ${tasks.inFlight} are in flight`,
      )
    }
    const awaited = world.calls.filter(call => call.state === 'pending').length
    if (awaited !== pending)
      return world.fail(`${awaited} calls are pending, but ${pending} tasks are not settled`)
    const abortedCall = world.calls.find(call => call.state === 'pending' && isAborted(call))
    if (abortedCall !== undefined) return world.fail(`call ${abortedCall.id} is aborted, but still pending`)
    if (pending > 0 && clock.heldAnchors === 0)
      return world.fail('nothing keeps the process alive, although tasks are not settled')
    if (queue.size < 0 || queue.size > tasks.waiting + tasks.inFlight)
      return world.fail(`the queue size is ${queue.size}, but ${pending} tasks are not settled`)
    const over = pool.workers.find(worker => worker.usage < 0 || worker.usage > worker.slots)
    if (over !== undefined) world.fail(`worker ${over.id} has a usage of ${over.usage}`)
    this.#countLentSlots()
  }

  /** Where workers have several slots, a slot is lent to all tasks exactly while functions of the caller run for its task. */
  #countLentSlots(): void {
    const world = this.#world
    const { concurrentTasksPerWorker } = world.programme.options
    const calling = world.calls.filter(
      call => concurrentTasksPerWorker > 1 && !call.isExclusive && call.openLookUps.some(open => open > 0),
    )
    for (const { id, slots } of world.pool.workers) {
      const lent = slots - concurrentTasksPerWorker
      if (lent === 0 && calling.length === 0) continue
      const thread = world.threads.find(({ number }) => number === id)!
      const most = calling.filter(call => call.startedBy[call.startedBy.length - 1] === thread)
      const least = most.filter(
        call =>
          call.state === 'pending' &&
          // The task of a function may use the slot of another task. It cannot lend that slot to all tasks.
          call.parent === null &&
          call.openLookUps[call.startedBy.length]! > 0 &&
          thread.isAlive &&
          thread.running.some(running => running.call === call),
      )
      if (lent > most.length || lent < least.length) {
        const range = `${least.length} to ${most.length}`
        world.fail(`worker ${id} has ${lent} lent slots, expected ${range}`)
      }
    }
  }

  /** The running task waits for its caller, so the other task may use its slot. */
  #lendsTo({ call, steps }: Running, other: Call): boolean {
    const lendsToAll = this.#world.programme.options.concurrentTasksPerWorker > 1 && !call.isExclusive
    return steps?.isWaiting === true && (lendsToAll || this.#waitsFor(call, other))
  }

  /** A function of the first call has made the other call, or a call that waits for its key until the other call has ended. */
  #waitsFor(call: Call, other: Call): boolean {
    if (isWithin(other, call)) return true
    const { calls } = this.#world
    const isBehind = (held: Call) =>
      isSerial(held) &&
      !calls.some(outer => outer.key === held.key && outer.state === 'pending' && isWithin(held, outer)) &&
      isWithin(held, call) &&
      calls.some(
        first =>
          first.key === held.key &&
          first.id < held.id &&
          first.state === 'pending' &&
          (first === other || this.#waitsFor(first, other)),
      )
    return calls.some(isBehind)
  }

  /** One worker more than `maxWorkers` may live, but only while a worker leaves or is replaced. */
  #countWorkers(): void {
    const world = this.#world
    const { maxWorkers, maxWorkerAge } = world.programme.options
    const alive = world.threads.filter(thread => thread.isAlive)
    const mayStart = Number.isFinite(maxWorkerAge) || world.renewals.mayHaveLeftOne
    const isAnyReplaced = mayStart || alive.some(thread => thread.isLeaving || thread.wasAskedToLeave)
    const most = isAnyReplaced ? maxWorkers + 1 : maxWorkers
    if (alive.length > most) world.fail(`${alive.length} workers are alive, at most ${most} are allowed`)
  }

  /** Tasks must start exactly in the order of submission when only one worker exists. */
  get #startsInOrder(): boolean {
    const { threads, renewals, programme } = this.#world
    const { options } = programme
    const isBalanced = options.transport === 'messages' && options.loadBalancer !== 'none'
    const isOrdered = options.queue === 'fifo' || options.queue === 'limited'
    const isReplaced =
      renewals.wereAsked || threads.some(thread => thread.isLeaving) || Number.isFinite(options.maxWorkerAge)
    return isOrdered && options.maxWorkers === 1 && !isBalanced && !isReplaced
  }

  #earlierThan(call: Call): Call | undefined {
    const world = this.#world
    // A forced close, destroy() and closeTimeout reject all queued tasks in one turn. A worker may start a task meanwhile.
    const { closeTimeout } = world.pool.options
    if (world.closes.some(({ how, at }) => how !== 'close' || world.clock.now() >= at + closeTimeout))
      return undefined
    // The getter may have killed a worker while the host placed this call. The host requeued that worker's tasks behind this call.
    if (call.payload === 'getter') return undefined
    // A moved payload is lost with its worker. The host has rejected the call, but its promise settles later.
    const isAnyDead = world.threads.some(thread => !thread.isAlive)
    return world.calls.find(
      other =>
        other.id < call.id &&
        other.state === 'pending' &&
        other.startedBy.length === 0 &&
        // Calls with keys wait for others, or for one worker.
        other.key === 'none' &&
        // The time limit may be over, and the promise may settle later.
        other.limit === 'none' &&
        !other.metFullQueue &&
        !(isAnyDead && other.payload === 'transferred') &&
        keepsItsPlace(other),
    )
  }
}
