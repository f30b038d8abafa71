// Explains why the oldest task that no worker has does not run. Only statistics ask, so all work happens at the question.
import type { LoadBalancer } from '../../api/queue.js'
import type { WaitReason } from '../../api/stats.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import { oldestOf, type Task } from '../task/task.js'
import { hasRoomFor } from '../workers/placement.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { PendingTasks } from './pending.js'
import type { Pump } from './pump.js'

export interface WaitingTasksParts {
  clock: Clock
  group: WorkerGroup
  posted: PostedTasks
  pending: PendingTasks
  pump: Pump
  loadBalancer: LoadBalancer | null
}

/** What decides the reason, as plain facts. */
export interface WaitFacts {
  /** How long the task has waited. */
  ageMs: number
  isExclusive: boolean
  isBroadcast: boolean
  /** Only this worker may run the task. `others`: the tasks that it has started. `null`: any worker may run the task. */
  worker: (WorkerFacts & { others: number }) | null
  /** The workers that start or are ready. */
  workers: readonly WorkerFacts[]
  hasLoadBalancer: boolean
  /** Earlier starts failed, so no worker may start now. */
  isPaused: boolean
  maxWorkers: number
  /** The workers that exist, also stopping ones. */
  alive: number
}

export interface WorkerFacts {
  readonly isReady: boolean
  readonly usage: number
  readonly slots: number
  readonly isExclusive: boolean
  readonly isLeaving: boolean
}

/** A worker with a free slot claims a task within this time, unless its thread is busy. */
const ON_ITS_WAY_MS = 100

/** `null`: the task is on its way to a worker. */
export function waitReason(facts: WaitFacts): WaitReason | null {
  const { workers, worker, isExclusive } = facts
  if (worker !== null) return ofOneWorker(facts, worker)
  const accepting = workers.filter(({ isLeaving }) => !isLeaving)
  const ready = accepting.filter(({ isReady }) => isReady)
  if (ready.some(other => hasRoomFor(other, isExclusive))) {
    if (facts.hasLoadBalancer) return 'load balancer'
    return blockedOrNull(facts)
  }
  if (accepting.length > ready.length) return 'worker starting'
  if (facts.isPaused) return 'circuit open'
  const isHeldAlone = ready.some(other => other.isExclusive && other.slots > 1)
  const lacksWholeWorker = isExclusive && ready.some(other => hasRoomFor(other, false))
  if (isHeldAlone || lacksWholeWorker) return 'exclusive task'
  if (accepting.length >= facts.maxWorkers) return 'all busy'
  return facts.alive > facts.maxWorkers ? 'worker stopping' : 'worker starting'
}

function ofOneWorker(facts: WaitFacts, worker: NonNullable<WaitFacts['worker']>): WaitReason | null {
  if (!worker.isReady) return 'worker starting'
  if (worker.isExclusive) return 'exclusive task'
  if (worker.others >= worker.slots) return facts.isBroadcast ? 'broadcast' : 'all busy'
  return blockedOrNull(facts)
}

function blockedOrNull({ ageMs }: WaitFacts): WaitReason | null {
  return ageMs < ON_ITS_WAY_MS ? null : 'worker blocked'
}

export class WaitingTasks {
  readonly #parts: WaitingTasksParts

  constructor(parts: WaitingTasksParts) {
    this.#parts = parts
  }

  /** `oldestMs` is `null` when a worker has every task. */
  snapshot(): { oldestMs: number | null; waitingFor: WaitReason | null } {
    const { clock, group, posted, loadBalancer } = this.#parts
    const task = this.#oldest()
    if (task === null) return { oldestMs: null, waitingFor: null }
    const ageMs = Math.max(clock.now() - task.createdAt, 0)
    const worker = group.withId(Math.max(task.terms.workerId, task.addressee))
    const waitingFor = waitReason({
      ageMs,
      isExclusive: task.isExclusive,
      isBroadcast: task.isPinned,
      worker: worker === null ? null : { ...factsOf(worker), others: posted.startedBy(worker.id) },
      workers: group.workers,
      hasLoadBalancer: loadBalancer !== null,
      isPaused: !group.starts.policy.maySpawn(clock.now()),
      maxWorkers: group.settings.size.maxWorkers,
      alive: group.alive,
    })
    return { oldestMs: ageMs, waitingFor }
  }

  /** Looks at each task that no worker has claimed. */
  #oldest(): Task | null {
    const { posted, pending, pump } = this.#parts
    const queued = pending.oldest
    return oldestOf([...(queued === null ? [] : [queued]), ...pump.pinned, ...posted.unstarted()])
  }
}

function factsOf({ isReady, usage, slots, isExclusive, isLeaving }: WorkerFacts): WorkerFacts {
  return { isReady, usage, slots, isExclusive, isLeaving }
}
