// Decides when the host checks the result rings. The host never blocks to wait.
// - A bell message makes the host check.
// - While short tasks run and a core is free, the host also polls once in each turn of its event loop. Waking the host
//   costs several times as much as a small task.
// - When no core is free, waking the host takes time from the workers. Then it rests for some milliseconds and collects
//   several answers together, while the workers have enough queued tasks.
import type { HostBell } from '../../shared/lane/doorbell.js'
import { AdaptiveSpin, CoreWatch } from '../../shared/platform/adaptive-spin.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { Collector } from './collect.js'
import type { PostedTasks } from './posted-tasks.js'

/** How long the host polls without an answer: about the time of a sleep and a wake-up. */
const LONGEST_POLL_MS = 0.04
/** How often the host checks again within one turn while it finds answers. */
const CHECKS_PER_TURN = 4
/** The host rests for this share of the time that the workers need for the queued tasks. */
const REST_SHARE = 1 / 4
/** Timers cannot be shorter. */
const SHORTEST_REST_MS = 1
const LONGEST_REST_MS = 4

export interface ResultPollerParts {
  clock: Clock
  bell: HostBell
  group: WorkerGroup
  posted: PostedTasks
  collector: Collector
  /** False: the host polls although other threads need its core. */
  yieldsCore: boolean
}

export class ResultPoller {
  readonly #parts: ResultPollerParts
  readonly #spin = new AdaptiveSpin(LONGEST_POLL_MS)
  #nextCheck: Timer | null = null
  /** While the host rests, only an idle worker rings. */
  #rest: Timer | null = null
  #pollUntil = 0
  /** The last check of a poll that goes on; 0: the host does not poll. */
  #polledAt = 0
  /** `null`: the host polls although other threads need the core. */
  readonly #coreWatch: CoreWatch | null
  #checksLeft = 0
  readonly #checkAgain = () => {
    if (this.#parts.collector.collect() && --this.#checksLeft > 0) inMicrotask(this.#checkAgain)
  }
  /** When the host started to wait for answers; 0: the host does not wait. */
  #waitingSince = 0

  constructor(parts: ResultPollerParts) {
    this.#parts = parts
    this.#coreWatch = parts.yieldsCore ? new CoreWatch(() => parts.clock.coreWait()) : null
    parts.bell.announceSleep()
  }

  /** @param now when a task was posted; the time of its call may stand for it */
  onPosted(now: number): void {
    if (this.#waitingSince !== 0) return
    this.#waitingSince = now
    if (this.#shouldPoll()) this.#pollFrom(now)
  }

  /** A worker rang. Returns true when answers were collected. */
  onBell(): boolean {
    return this.#nextCheck === null && this.#check()
  }

  /** A worker has exited. It may have taken the host's announcement of sleep and then not rung. */
  onWorkerGone(): void {
    const now = this.#parts.clock.now()
    if (this.#isWaiting) this.#pollFrom(now)
    else this.#sleep(now)
  }

  get #isWaiting(): boolean {
    return this.#parts.posted.slots.posted > 0
  }

  #check(): boolean {
    const { clock, collector, group } = this.#parts
    this.#nextCheck = null
    this.#endRest()
    const hadAnswers = collector.collect()
    const now = clock.now()
    if (this.#polledAt > 0) this.#notePoll(now - this.#polledAt, now)
    this.#polledAt = 0
    if (hadAnswers) {
      this.#checksLeft = CHECKS_PER_TURN
      inMicrotask(this.#checkAgain)
      if (this.#waitingSince !== 0) this.#spin.onGap(now - this.#waitingSince)
      this.#waitingSince = this.#isWaiting ? now : 0
      if (collector.hasAnswers || (this.#isWaiting && this.#shouldPoll())) this.#pollFrom(now)
      else if (!this.#startRest()) this.#sleep(now)
    } else if (this.#isWaiting && now < this.#pollUntil && group.cores.mayPoll) {
      this.#pollAgain(now)
    } else {
      if (!this.#isWaiting) this.#waitingSince = 0
      this.#sleep(now)
    }
    return hadAnswers
  }

  #pollFrom(now: number): void {
    const { bell } = this.#parts
    bell.stayAwake()
    this.#pollUntil = now + LONGEST_POLL_MS
    this.#pollAgain(now)
  }

  #pollAgain(now: number): void {
    if (this.#nextCheck !== null) return
    this.#polledAt = now
    this.#nextCheck = this.#parts.clock.nextTurn(() => this.#check())
  }

  #notePoll(turnMs: number, now: number): void {
    const pauseMs = this.#coreWatch?.onBusyWait(turnMs, now) ?? 0
    if (pauseMs > 0) this.#parts.group.cores.pause(pauseMs)
  }

  #sleep(now: number): void {
    const { bell, collector } = this.#parts
    this.#endRest()
    bell.announceSleep()
    // Check again after the announcement. A worker publishes its answer first and rings then, so no answer is missed.
    if (collector.hasAnswers) this.#pollFrom(now)
  }

  /** True when the host rests: a timer makes it check again, and until then only an idle worker rings. */
  #startRest(): boolean {
    const { bell, clock, group } = this.#parts
    if (this.#nextCheck !== null || !this.#isWaiting || group.cores.mayPoll) return false
    const restMs = Math.min(this.#backlogMs() * REST_SHARE, LONGEST_REST_MS)
    if (!(restMs >= SHORTEST_REST_MS)) return false
    bell.announceRest()
    this.#rest = clock.after(restMs, () => this.#check())
    return true
  }

  #endRest(): void {
    this.#rest?.cancel()
    this.#rest = null
  }

  /** An estimate of how long the workers need for the queued tasks, from the run time of the last one. */
  #backlogMs(): number {
    const { collector, group, posted } = this.#parts
    return (
      (posted.queue.unclaimed * collector.lastRunMs) / (group.acceptingWorkers * posted.slots.perWorker || 1)
    )
  }

  #shouldPoll(): boolean {
    return this.#parts.group.cores.mayPoll && this.#spin.shouldSpin()
  }
}
