// Which of the workers that sleep are woken for what is on offer. Who is awake takes it by itself; to wake another takes time, and
// a core. So no more are woken than there is something to do for, nor than the host can keep busy: where tasks are over as soon
// as it hands over the next, one worker does them all. That is judged by the last answers, which may mislead: while something is
// on offer and somebody sleeps, one look in each turn of the event loop sees whether the lane moves, and wakes all there
// is work for when it does not.
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Task } from '../task/task.js'
import type { Crew } from '../workers/crew.js'
import type { LaneTasks } from '../workers/lane-tasks.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import { deskOf } from './lane-collector.js'
import type { LaneLoad } from './lane-load.js'
import { RunTimes } from './run-times.js'

/** What it takes to wake a worker, on virtual machines: `npm run bench -- --only P6 --pools lido-without-spin`. */
const WAKING_MS = 0.1
/** What the host does for a task, from its post to its answer: `npm run bench -- --only P7`. */
const HOSTS_MS = 0.002

export interface SleepersParts {
  clock: Clock
  crew: Crew
  load: LaneLoad
  tasks: LaneTasks
  slotsPerWorker: number
}

export class Sleepers {
  readonly runTimes = new RunTimes()
  readonly #parts: SleepersParts
  /** Of what is on offer, or was since nothing was. */
  #longestMs = 0
  /** What was first on offer at the last look, and since when. */
  #first = -1
  #firstSince = 0
  #turn: Timer | null = null

  constructor(parts: SleepersParts) {
    this.#parts = parts
  }

  onPosted(task: Task): void {
    const longMs = this.runTimes.of(task.handlerId)
    if (longMs > this.#longestMs) this.#longestMs = longMs
    if (longMs >= WAKING_MS) this.#parts.load.long.add(task)
  }

  /** Something may be on offer that was not, or have been left there. */
  wake(): void {
    const { crew } = this.#parts
    let awake = 0
    let sleepers = 0
    for (const worker of crew.workers) {
      if (takes(worker) && deskOf(worker).bell.isParked) sleepers++
      else awake++
    }
    const woken = sleepers === 0 ? 0 : this.#wakeFew(sleepers)
    crew.shareCores(awake + woken)
  }

  /** Returns how many. */
  #wakeFew(sleepers: number): number {
    const { lane } = this.#parts.tasks
    const { unclaimed } = lane
    if (unclaimed === 0) {
      this.#longestMs = 0
      return 0
    }
    const useful = Math.min(unclaimed, sleepers)
    const needed = this.#standsStill() ? useful : Math.min(this.#needed(unclaimed), useful)
    if (needed < useful) this.#lookAgain()
    if (needed <= 0) return 0
    // With more slots than one, who is woken may have to leave the ticket to another.
    return this.#ring(this.#parts.slotsPerWorker === 1 ? needed : sleepers)
  }

  /** So many more have something to do, and get the next from a host that has all of them to feed. */
  #needed(unclaimed: number): number {
    const { crew, load, slotsPerWorker } = this.#parts
    // Each long one takes a worker to itself.
    let free = -load.long.size
    // Awake and without a task: each takes one, or is about to.
    let idle = 0
    for (const worker of crew.workers) {
      if (!takesAwake(worker)) continue
      free++
      if (worker.isIdle) idle++
    }
    const fed = Math.max(Math.ceil(this.#longestMs / HOSTS_MS), 1)
    // Who has just claimed one seems idle for a moment longer. With several slots, one may have many.
    const beyond = slotsPerWorker === 1 ? -free : 0
    return Math.min(fed - Math.max(free, 0), Math.max(unclaimed - idle, beyond))
  }

  /** Nobody has taken what is first on offer for as long as a sleeper takes to wake. */
  #standsStill(): boolean {
    const { clock, tasks } = this.#parts
    const now = clock.now()
    if (this.#first === tasks.lane.first) return now - this.#firstSince >= WAKING_MS
    this.#first = tasks.lane.first
    this.#firstSince = now
    return false
  }

  #ring(most: number): number {
    let rung = 0
    for (const worker of this.#parts.crew.workers) {
      if (rung === most) break
      if (!takes(worker) || !deskOf(worker).bell.ring()) continue
      worker.link!.post('bell')
      rung++
    }
    return rung
  }

  #lookAgain(): void {
    this.#turn ??= this.#parts.clock.nextTurn(() => {
      this.#turn = null
      this.wake()
    })
  }
}

function takes({ isReady, isLeaving }: WorkerHandle): boolean {
  return isReady && !isLeaving
}

/** Who has done all that it may says so by its port: until the host hears that, it is awake, and takes nothing. */
function takesAwake(worker: WorkerHandle): boolean {
  return takes(worker) && !deskOf(worker).bell.isParked && !worker.isSpent
}
