// What must hold while a pool lives: at each begin, at each settlement, and whenever the host has done its work. `outcomes`
// knows what each call may come to, `ends` what must hold when all is over.
import { type Call, isAborted, keepsItsPlace, mayRunAgain } from './call.js'
import { whatIsWrongWith } from './outcomes.js'
import type { SimulatedThread } from './thread.js'
import type { World } from './world.js'

export class Rules {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  onBegun(thread: SimulatedThread, call: Call): void {
    const world = this.#world
    const { concurrentTasksPerWorker, maxTasksPerWorker } = world.programme.options
    const at = `call ${call.id} begins on worker ${thread.number}`
    if (call.begunBy.length > 0 && !mayRunAgain(call))
      return world.fail(`${at} and was begun by worker ${call.begunBy[0]!.number}`)
    if (call.state !== 'pending') return world.fail(`${at} after it was ${call.state}`)
    if (call.wasCancelled) return world.fail(`${at} after it was cancelled`)
    const isGivenAway = call.payload === 'transferred' || call.payload === 'unreadable'
    if (thread.begun >= maxTasksPerWorker && !isGivenAway)
      return world.fail(`${at}, which has begun ${thread.begun} of ${maxTasksPerWorker} at most`)
    const beside = thread.running.filter(running => !isAborted(running.call))
    if (beside.length >= concurrentTasksPerWorker)
      return world.fail(`${at} beside ${beside.length} others, with ${concurrentTasksPerWorker} slots`)
    if (beside.some(running => running.call.isExclusive) || (call.isExclusive && beside.length > 0))
      return world.fail(`${at} beside a task, though one of them has its worker to itself`)
    const earlier = this.#startsInOrder ? this.#earlierThan(call) : undefined
    if (earlier !== undefined) world.fail(`${at} before call ${earlier.id}, which came first and waits`)
  }

  onSettled(call: Call): void {
    const world = this.#world
    const wrong = whatIsWrongWith(call, world)
    if (wrong !== null) world.fail(`call ${call.id} (${call.payload}, ${call.fate}) ${wrong}`)
  }

  /** The host has done what there was to do. */
  lookOn(): void {
    const world = this.#world
    const { pool, clock } = world
    this.#countWorkers()
    const { tasks, queue, workers } = pool.stats()
    const pending = tasks.accepted - tasks.fulfilled - tasks.rejected - tasks.cancelled
    if (pending < 0) return world.fail(`${-pending} tasks more were settled than accepted`)
    if (pending !== tasks.waiting + tasks.inFlight) {
      return world.fail(
        `${pending} tasks are not settled: ${tasks.waiting} wait, ${tasks.inFlight} are under way`,
      )
    }
    const awaited = world.calls.filter(call => call.state === 'pending').length
    if (awaited !== pending)
      return world.fail(`${awaited} callers wait, and ${pending} tasks are not settled`)
    const forsaken = world.calls.find(call => call.state === 'pending' && isAborted(call))
    if (forsaken !== undefined) return world.fail(`call ${forsaken.id} is aborted, and its caller waits`)
    if (pending > 0 && clock.heldAnchors === 0)
      return world.fail('nothing keeps the process alive, and tasks wait')
    if (queue.size < 0 || queue.size > tasks.waiting + tasks.inFlight)
      return world.fail(`the queue counts ${queue.size} tasks of ${pending}`)
    const over = workers.find(
      worker => worker.usage < 0 || worker.usage > pool.options.concurrentTasksPerWorker,
    )
    if (over !== undefined) world.fail(`worker ${over.id} says that it holds ${over.usage} tasks`)
  }

  /** One more than `maxWorkers` while one is replaced, or leaves; none more for any other reason. */
  #countWorkers(): void {
    const world = this.#world
    const { maxWorkers, maxWorkerAge } = world.programme.options
    const alive = world.threads.filter(thread => thread.isAlive)
    const mayStart = Number.isFinite(maxWorkerAge) || world.renewals.mayHaveLeftOne
    const isAnyReplaced = mayStart || alive.some(thread => thread.isLeaving || thread.wasToldToLeave)
    const most = isAnyReplaced ? maxWorkers + 1 : maxWorkers
    if (alive.length > most) world.fail(`${alive.length} workers live, of ${most} at most`)
  }

  /** First in, first started is promised to the letter where there is one worker to start them. */
  get #startsInOrder(): boolean {
    const { threads, renewals, programme } = this.#world
    const { options } = programme
    const isBalanced = options.transport === 'messages' && options.loadBalancer !== 'none'
    const isOrdered = options.queue === 'fifo' || options.queue === 'fixed'
    const isReplaced =
      renewals.wereAsked || threads.some(thread => thread.isLeaving) || Number.isFinite(options.maxWorkerAge)
    return isOrdered && options.maxWorkers === 1 && !isBalanced && !isReplaced
  }

  #earlierThan(call: Call): Call | undefined {
    const world = this.#world
    // These reject all that waits, in one turn, while a worker may go on.
    const { closeTimeout } = world.pool.options
    if (world.closes.some(({ how, at }) => how !== 'close' || world.clock.now() >= at + closeTimeout))
      return undefined
    // Its getter may have ended a worker while it was placed: what came back from there is then behind it.
    if (call.payload === 'getter') return undefined
    // A moved payload dies with its worker. The host has rejected the call, but its caller hears of it a moment later.
    const isAnyDead = world.threads.some(thread => !thread.isAlive)
    return world.calls.find(
      other =>
        other.id < call.id &&
        other.state === 'pending' &&
        other.begunBy.length === 0 &&
        // Its time may be over, and its caller about to hear of it.
        other.limit === 'none' &&
        !other.metFullQueue &&
        !(isAnyDead && other.payload === 'transferred') &&
        keepsItsPlace(other),
    )
  }
}
