// Decides which sleeping workers to wake for the tasks in the lane queue. A worker that is awake claims tasks by
// itself. Waking another one costs time and a core. So the host wakes only as many workers as find a task, and only as
// many as it can keep busy. If a task runs shorter than the host needs to post the next one, one worker is enough for
// all.
//
// The host wakes the workers that slept last, because the caches of the cores still hold their code and data.
//
// The decision uses recent run times, which may mislead. So while tasks are offered and a worker sleeps, the host
// checks again whether workers claim tasks. If not, it wakes every worker that would find a task. A worker that is
// awake claims a task at once if it has a core. If more workers are awake than there are cores, it may have to wait for
// one. Then the host checks later. See docs/design/0019.
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Task } from '../task/task.js'
import type { Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { PostedTasks } from './posted-tasks.js'
import { RunTimes } from './run-times.js'

/** The time to wake a worker on a virtual machine: `npm run bench -- --only P6 --pools lido-without-spin`. */
const WAKING_MS = 0.1
/** How long a worker that is awake may wait for a core: several time slices of the operating system. */
const CROWDED_MS = 20
/** The time that the host needs for one task, for the post and the answer: `npm run bench -- --only P7`. */
const HOST_COST_MS = 0.002

export class WorkerWaker {
  readonly runTimes = new RunTimes()
  readonly #clock: Clock
  readonly #group: WorkerGroup
  readonly #posted: PostedTasks
  readonly #cores: number
  /** The longest run time of the tasks posted since the queue was last empty. */
  #longestMs = 0
  /** The first offered position at the last check, and the time when it became the first. */
  #first = -1
  #firstSince = 0
  #nextCheck: Timer | null = null

  constructor(clock: Clock, group: WorkerGroup, posted: PostedTasks, cores: number) {
    this.#clock = clock
    this.#group = group
    this.#posted = posted
    this.#cores = cores
  }

  onPosted(task: Task): void {
    const runMs = this.runTimes.of(task.handlerId)
    if (runMs > this.#longestMs) this.#longestMs = runMs
    if (runMs >= WAKING_MS) this.#posted.longRunning.add(task)
  }

  /** Call it when sleeping workers may find offered tasks. */
  wake(): void {
    let awake = 0
    let sleeping = 0
    for (const worker of this.#group.workers) {
      if (acceptsTasks(worker) && worker.tasks.bell.isParked) sleeping++
      else awake++
    }
    const woken = sleeping === 0 ? 0 : this.#wakeSome(sleeping, awake < this.#cores ? WAKING_MS : CROWDED_MS)
    this.#group.cores.share(awake + woken)
  }

  /** Call it when the pool has closed. */
  end(): void {
    this.#nextCheck?.cancel()
    this.#nextCheck = null
  }

  /**
   * Returns the number of woken workers.
   * @param claimMs how long a worker that is awake may need to claim a task
   */
  #wakeSome(sleeping: number, claimMs: number): number {
    const { unclaimed } = this.#posted.queue
    if (unclaimed === 0) {
      this.#longestMs = 0
      return 0
    }
    const useful = Math.min(unclaimed, sleeping)
    const needed = this.#isStuck(claimMs) ? useful : Math.min(this.#neededFor(unclaimed), useful)
    if (needed < useful) this.#checkAgain(claimMs)
    if (needed <= 0) return 0
    // With several slots, a woken worker may find that another one has claimed the task.
    return this.#ring(this.#posted.slots.perWorker === 1 ? needed : sleeping)
  }

  /** How many more workers would find a task and would get the next one from the host in time. */
  #neededFor(unclaimed: number): number {
    // Each long task keeps a worker busy.
    let free = -this.#posted.longRunning.size
    // Workers that are awake without a task. Each of them claims one by itself.
    let idle = 0
    for (const worker of this.#group.workers) {
      if (!acceptsTasks(worker) || worker.tasks.bell.isParked || worker.hasReachedTaskLimit) continue
      free++
      if (worker.isIdle) idle++
    }
    const sustainable = Math.max(Math.ceil(this.#longestMs / HOST_COST_MS), 1)
    // A worker that has just claimed a task still looks idle. With several slots, one worker may hold many tasks.
    const beyond = this.#posted.slots.perWorker === 1 ? -free : 0
    return Math.min(sustainable - Math.max(free, 0), Math.max(unclaimed - idle, beyond))
  }

  /** True when no worker has claimed the first offered task for `claimMs`. */
  #isStuck(claimMs: number): boolean {
    const now = this.#clock.now()
    const { first } = this.#posted.queue
    if (this.#first === first) return now - this.#firstSince >= claimMs
    this.#first = first
    this.#firstSince = now
    return false
  }

  /** Wakes the workers that slept last. */
  #ring(limit: number): number {
    const { workers } = this.#group
    const parked = workers.filter(worker => acceptsTasks(worker) && worker.tasks.bell.isParked)
    if (limit < parked.length) parked.sort((one, other) => other.idleSince - one.idleSince)
    let rung = 0
    for (const worker of parked) {
      if (rung === limit) break
      if (!worker.tasks.bell.ring()) continue
      worker.link.post('bell')
      rung++
    }
    return rung
  }

  #checkAgain(claimMs: number): void {
    if (this.#nextCheck !== null) return
    const check = () => {
      this.#nextCheck = null
      this.wake()
    }
    this.#nextCheck =
      claimMs === CROWDED_MS ? this.#clock.after(CROWDED_MS, check) : this.#clock.nextTurn(check)
  }
}

function acceptsTasks({ isReady, isLeaving }: Worker): boolean {
  return isReady && !isLeaving
}
