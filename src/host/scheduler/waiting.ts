// Explains why the oldest task that no worker has does not run. Only statistics ask, so all work happens at the question.
import type { LoadBalancer } from '../../api/queue.js'
import type { WaitReason } from '../../api/stats.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { PostedTasks } from '../lane/posted-tasks.js'
import { oldestOf, type Task } from '../task/task.js'
import { hasRoomFor } from '../workers/placement.js'
import type { Worker } from '../workers/worker.js'
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
  /** The queue holds the task back, for this reason. `null`: the task may start. */
  hold: 'key' | 'group limit' | null
  /** How long the task has waited, or the time since the host sent it to a worker. */
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
  /** How long the worker has had a free slot, if it has one. */
  readonly freeMs: number
}

/** A worker with a free slot claims a task within this time, unless its thread is busy. */
const ON_ITS_WAY_MS = 100

/** `null`: the task is on its way to a worker. */
export function waitReason(facts: WaitFacts): WaitReason | null {
  const { workers, worker, hold, isExclusive } = facts
  if (hold !== null) return hold
  if (worker !== null) return ofOneWorker(facts, worker)
  const accepting = workers.filter(({ isLeaving }) => !isLeaving)
  const ready = accepting.filter(({ isReady }) => isReady)
  const free = ready.filter(other => hasRoomFor(other, isExclusive))
  if (free.length > 0) {
    if (facts.hasLoadBalancer) return 'load balancer'
    return blockedOrNull(facts, free)
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
  return blockedOrNull(facts, [worker])
}

function blockedOrNull({ ageMs }: WaitFacts, free: readonly WorkerFacts[]): WaitReason | null {
  const freeMs = Math.max(...free.map(worker => worker.freeMs))
  return Math.min(ageMs, freeMs) < ON_ITS_WAY_MS ? null : 'worker blocked'
}

export class WaitingTasks {
  readonly #parts: WaitingTasksParts

  constructor(parts: WaitingTasksParts) {
    this.#parts = parts
  }

  /** `oldestMs` is `null` when a worker has every task. */
  snapshot(): { oldestMs: number | null; waitingFor: WaitReason | null } {
    const { clock, group, pending, posted, loadBalancer } = this.#parts
    const task = this.#oldest()
    if (task === null) return { oldestMs: null, waitingFor: null }
    const now = clock.now()
    const oldestMs = Math.max(now - task.createdAt, 0)
    const worker = group.withId(Math.max(task.terms.workerId, task.addressee))
    const waitingFor = waitReason({
      hold: pending.holdOf(task),
      ageMs: now - (task.assignedAt ?? task.createdAt),
      isExclusive: task.isExclusive,
      isBroadcast: task.isPinned,
      worker: worker === null ? null : { ...factsOf(worker, now), others: posted.startedBy(worker.id) },
      workers: group.workers.map(other => factsOf(other, now)),
      hasLoadBalancer: loadBalancer !== null,
      isPaused: !group.starts.policy.maySpawn(now),
      maxWorkers: group.settings.size.maxWorkers,
      alive: group.alive,
    })
    return { oldestMs, waitingFor }
  }

  /** Looks at each task that no worker has claimed. */
  #oldest(): Task | null {
    const { posted, pending, pump } = this.#parts
    const queued = pending.oldest
    return oldestOf([...(queued === null ? [] : [queued]), ...pump.pinned, ...posted.unstarted()])
  }
}

function factsOf(worker: Worker, now: number): WorkerFacts {
  const { isReady, usage, slots, isExclusive, isLeaving, freedAt } = worker
  // Beside running tasks, the last answer freed one slot. A second one was free before.
  const wasFree = usage > 0 && slots - usage > 1
  const freeMs = wasFree ? Number.POSITIVE_INFINITY : now - freedAt
  return { isReady, usage, slots, isExclusive, isLeaving, freeMs }
}
