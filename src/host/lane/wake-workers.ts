// Decides which sleeping workers to wake for the tasks in the shared queue. A worker that is awake takes them by itself. Waking
// another one costs time and a core. So the host wakes no more workers than have something to do, and no more than it can keep
// busy: when tasks are shorter than it takes to hand over the next one, a single worker does them all.
//
// This is judged by recent run times, which may mislead. So while tasks are offered and a worker sleeps, the host checks in each
// turn of its event loop whether the queue moves. If it does not, the host wakes every worker that would find a task.
// See docs/design/0019.
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Task } from '../task/task.js'
import type { Worker } from '../workers/worker.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { PostedTasks } from './posted-tasks.js'
import { RunTimes } from './run-times.js'

/** How long it takes to wake a worker on virtual machines: `npm run bench -- --only P6 --pools lido-without-spin`. */
const WAKING_MS = 0.1
/** What one task costs the host, from its post to its answer: `npm run bench -- --only P7`. */
const HOST_COST_MS = 0.002

export class WorkerWaker {
  readonly runTimes = new RunTimes()
  readonly #clock: Clock
  readonly #group: WorkerGroup
  readonly #posted: PostedTasks
  readonly #slotsPerWorker: number
  /** The longest run time of the tasks posted since the queue was last empty. */
  #longestMs = 0
  /** The first offered position at the last check, and since when. */
  #first = -1
  #firstSince = 0
  #nextCheck: Timer | null = null

  constructor(clock: Clock, group: WorkerGroup, posted: PostedTasks, slotsPerWorker: number) {
    this.#clock = clock
    this.#group = group
    this.#posted = posted
    this.#slotsPerWorker = slotsPerWorker
  }

  onPosted(task: Task): void {
    const runMs = this.runTimes.of(task.handlerId)
    if (runMs > this.#longestMs) this.#longestMs = runMs
    if (runMs >= WAKING_MS) this.#posted.longRunning.add(task)
  }

  /** Call it when tasks may be offered that sleeping workers could take. */
  wake(): void {
    let awake = 0
    let sleeping = 0
    for (const worker of this.#group.workers) {
      if (acceptsTasks(worker) && worker.tasks.bell.isParked) sleeping++
      else awake++
    }
    const woken = sleeping === 0 ? 0 : this.#wakeSome(sleeping)
    this.#group.shareCores(awake + woken)
  }

  /** Returns how many it woke. */
  #wakeSome(sleeping: number): number {
    const { unclaimed } = this.#posted.queue
    if (unclaimed === 0) {
      this.#longestMs = 0
      return 0
    }
    const useful = Math.min(unclaimed, sleeping)
    const needed = this.#isStuck() ? useful : Math.min(this.#neededFor(unclaimed), useful)
    if (needed < useful) this.#checkAgain()
    if (needed <= 0) return 0
    // With several slots, a woken worker may have to leave the task to another.
    return this.#ring(this.#slotsPerWorker === 1 ? needed : sleeping)
  }

  /** How many more workers would find a task, and would get the next one in time from the host. */
  #neededFor(unclaimed: number): number {
    // Each long task occupies a worker.
    let free = -this.#posted.longRunning.size
    // Workers that are awake and have no task: each takes one, or is about to.
    let idle = 0
    for (const worker of this.#group.workers) {
      if (!acceptsTasks(worker) || worker.tasks.bell.isParked || worker.hasReachedTaskLimit) continue
      free++
      if (worker.isIdle) idle++
    }
    const fed = Math.max(Math.ceil(this.#longestMs / HOST_COST_MS), 1)
    // A worker that has just claimed a task seems idle for a moment. With several slots, one worker may hold many tasks.
    const beyond = this.#slotsPerWorker === 1 ? -free : 0
    return Math.min(fed - Math.max(free, 0), Math.max(unclaimed - idle, beyond))
  }

  /** True when the first offered task has not changed for as long as it takes to wake a worker. */
  #isStuck(): boolean {
    const now = this.#clock.now()
    const { first } = this.#posted.queue
    if (this.#first === first) return now - this.#firstSince >= WAKING_MS
    this.#first = first
    this.#firstSince = now
    return false
  }

  #ring(limit: number): number {
    let rung = 0
    for (const worker of this.#group.workers) {
      if (rung === limit) break
      if (!acceptsTasks(worker) || !worker.tasks.bell.ring()) continue
      worker.link.post('bell')
      rung++
    }
    return rung
  }

  #checkAgain(): void {
    this.#nextCheck ??= this.#clock.nextTurn(() => {
      this.#nextCheck = null
      this.wake()
    })
  }
}

function acceptsTasks({ isReady, isLeaving }: Worker): boolean {
  return isReady && !isLeaving
}
