// The options of a simulated pool. They are drawn as plain data, and then converted into the options of the pool.
import type { PoolOptions, RetryOptions } from '../../src/api/pool-options.js'
import type { TaskQueue } from '../../src/api/queue.js'
import type { QueuedTask } from '../../src/api/queued-task.js'
import type { WorkerView } from '../../src/api/worker-view.js'
import { FifoQueue } from '../../src/host/queue/fifo-queue.js'
import { PriorityQueue } from '../../src/host/queue/priority-queue.js'
import { QueueFullError } from '../../src/shared/errors/pool-errors.js'
import type { RetryPlan } from './call.js'
import { oneOf, pick, type Random } from './draw.js'

/** `groups`: the pool has the option `groups`, and each call a group. */
export type QueueKind = 'fifo' | 'groups' | 'limited' | 'priority' | 'lastFirst'
export type BalancerKind = 'none' | 'leastBusy' | 'patient' | 'throwing'

export interface DrawnOptions {
  transport: 'shared-memory' | 'messages'
  maxWorkers: number
  minWorkers: number
  concurrentTasksPerWorker: number
  queue: QueueKind
  maxQueue: number
  idleTimeout: number
  closeTimeout: number
  cancelGrace: number
  loadBalancer: BalancerKind
  busyWait: boolean
  /** How long the host may decode in one turn: an internal setting of the pool. */
  decodeSliceMs: number
  maxTasksPerWorker: number
  maxWorkerAge: number
  /** `null`: the default of the pool. */
  restart: { failures: number; period: number; pause: number } | null
}

export type TransportChoice = 'any' | 'messages' | 'shared-memory'

/** The most running tasks of a group. */
export const GROUP_LIMIT = 2

const NEVER = Number.POSITIVE_INFINITY

export function drawOptions(random: Random, choice: TransportChoice): DrawnOptions {
  const maxWorkers = 1 + random(3)
  return {
    transport: choice === 'any' ? (random(2) === 0 ? 'shared-memory' : 'messages') : choice,
    maxWorkers,
    minWorkers: random(maxWorkers + 1),
    concurrentTasksPerWorker: oneOf(random, [1, 1, 2, 3]),
    queue: pick(random, { fifo: 5, groups: 1, limited: 1, priority: 2, lastFirst: 1 }),
    maxQueue: oneOf(random, [NEVER, NEVER, NEVER, 0, 1, 3]),
    idleTimeout: oneOf(random, [0, 5, 100, NEVER]),
    cancelGrace: oneOf(random, [0, 5, 100]),
    closeTimeout: oneOf(random, [0, 20, 2000, NEVER]),
    loadBalancer: pick(random, { none: 8, leastBusy: 1, patient: 1, throwing: 1 }),
    busyWait: random(2) === 0,
    decodeSliceMs: oneOf(random, [0, 0, 2]),
    maxTasksPerWorker: oneOf(random, [NEVER, NEVER, NEVER, NEVER, 1, 2, 5]),
    maxWorkerAge: oneOf(random, [NEVER, NEVER, NEVER, NEVER, 30, 300]),
    restart: random(2) === 0 ? null : drawRestart(random),
  }
}

function drawRestart(random: Random): NonNullable<DrawnOptions['restart']> {
  return {
    failures: oneOf(random, [1, 2, NEVER]),
    period: oneOf(random, [50, 10_000]),
    pause: oneOf(random, [20, 500]),
  }
}

export function toPoolOptions(drawn: DrawnOptions): PoolOptions {
  const { queue, loadBalancer, restart, decodeSliceMs: _, ...plain } = drawn
  const options: PoolOptions = { filename: '/handler.js', ...plain }
  if (restart !== null) options.restart = restart
  if (queue === 'groups') options.groups = { limit: GROUP_LIMIT }
  else if (queue !== 'fifo') options.queue = queues[queue]()
  if (plain.transport === 'messages' && loadBalancer !== 'none')
    options.loadBalancer = balancers[loadBalancer]()
  return options
}

/** The error that `when` throws. */
export class WhenError extends Error {}

export function toRetryOptions({ attempts, when }: RetryPlan): RetryOptions {
  if (when === 'unsaid') return { attempts }
  return {
    attempts,
    when: () => {
      if (when === 'throws') throw new WhenError('thrown by when')
      return when === 'yes'
    },
  }
}

const queues: Record<Exclude<QueueKind, 'fifo' | 'groups'>, () => TaskQueue> = {
  limited: () => new QueueOfFour(),
  priority: () => new PriorityQueue(),
  lastFirst: () => new LastFirst(),
}

type Balancer = NonNullable<PoolOptions['loadBalancer']>

const balancers: Record<Exclude<BalancerKind, 'none'>, () => Balancer> = {
  leastBusy: () => (_task, workers) => leastBusy(workers),
  patient: () => (_task, workers) => workers.find(worker => worker.isIdle) ?? null,
  throwing: () => {
    let asked = 0
    return (_task, workers) => {
      if (++asked % 5 === 0) throw new BalancerError('thrown by the load balancer')
      return leastBusy(workers)
    }
  },
}

export class BalancerError extends Error {}

function leastBusy(workers: WorkerView[]): WorkerView | null {
  return [...workers].sort((one, other) => one.usage - other.usage)[0] ?? null
}

/** A user's queue that refuses a task when it is full. */
class QueueOfFour extends FifoQueue {
  override readonly capacity = 4

  override push(task: QueuedTask): void {
    if (this.size === this.capacity) throw new QueueFullError(this.capacity)
    super.push(task)
  }
}

/** A user's queue with the required members only. */
class LastFirst implements TaskQueue {
  readonly #tasks: QueuedTask[] = []

  get size(): number {
    return this.#tasks.length
  }

  push(task: QueuedTask): void {
    this.#tasks.push(task)
  }

  shift(): QueuedTask | undefined {
    return this.#tasks.pop()
  }

  remove(task: QueuedTask): void {
    const place = this.#tasks.indexOf(task)
    if (place >= 0) this.#tasks.splice(place, 1)
  }
}
