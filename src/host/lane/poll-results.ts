// Decides when the host looks into the result rings. It looks when a bell comes. While short tasks run and a core is spare, it
// also looks once in each turn of its event loop, because being woken costs several times what a small task costs. When no core
// is spare, waking the host takes time from the workers: then it collects several answers together, as long as the workers have
// enough to do. The host never blocks to wait.
import type { HostBell } from '../../shared/lane/doorbell.js'
import { AdaptiveSpin } from '../../shared/platform/adaptive-spin.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import type { WorkerGroup } from '../workers/worker-group.js'
import type { Collector } from './collect.js'
import type { PostedTasks } from './posted-tasks.js'

/**
 * How long the host goes on looking when nothing comes. It must be at least the time to wake a worker: otherwise a host and a
 * worker that both sleep would never find out that both could stay awake.
 */
const LONGEST_LOOK_MS = 0.5
/** Within one turn, the host looks again this often as long as there are answers. */
const LOOKS_PER_TURN = 4
/** The host rests for this share of the time for which the workers have enough to do. */
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
  slotsPerWorker: number
}

export class ResultPoller {
  readonly #parts: ResultPollerParts
  readonly #spin = new AdaptiveSpin(LONGEST_LOOK_MS)
  #nextLook: Timer | null = null
  /** While the host rests, nobody but an idle worker rings. */
  #rest: Timer | null = null
  #lookUntil = 0
  #looksLeft = 0
  readonly #lookAgain = () => {
    if (this.#parts.collector.collect() && --this.#looksLeft > 0) inMicrotask(this.#lookAgain)
  }
  /** Since when the host waits for answers; 0: it does not. */
  #waitingSince = 0

  constructor(parts: ResultPollerParts) {
    this.#parts = parts
    parts.bell.announceSleep()
  }

  /** A task was posted at `now`. */
  onPosted(now: number): void {
    if (this.#waitingSince !== 0) return
    this.#waitingSince = now
    if (this.#shouldPoll()) this.#pollFrom(now)
  }

  /** A bell came. True when answers were collected. */
  onBell(): boolean {
    return this.#nextLook === null && this.#look()
  }

  /** A worker has ended. It may have taken the host's announcement of sleep without ringing. */
  onWorkerGone(): void {
    const now = this.#parts.clock.now()
    if (this.#isWaiting) this.#pollFrom(now)
    else this.#sleep(now)
  }

  get #isWaiting(): boolean {
    return this.#parts.posted.size > 0
  }

  #look(): boolean {
    const { clock, collector, group } = this.#parts
    this.#nextLook = null
    this.#endRest()
    const hadAnswers = collector.collect()
    const now = clock.now()
    if (hadAnswers) {
      this.#looksLeft = LOOKS_PER_TURN
      inMicrotask(this.#lookAgain)
      if (this.#waitingSince !== 0) this.#spin.onGap(now - this.#waitingSince)
      this.#waitingSince = this.#isWaiting ? now : 0
      if (collector.hasAnswers || (this.#isWaiting && this.#shouldPoll())) this.#pollFrom(now)
      else if (!this.#startRest()) this.#sleep(now)
    } else if (this.#isWaiting && now < this.#lookUntil && group.mayPoll) {
      this.#nextLook ??= clock.nextTurn(() => this.#look())
    } else {
      if (!this.#isWaiting) this.#waitingSince = 0
      this.#sleep(now)
    }
    return hadAnswers
  }

  #pollFrom(now: number): void {
    const { bell, clock } = this.#parts
    bell.stayAwake()
    this.#lookUntil = now + LONGEST_LOOK_MS
    this.#nextLook ??= clock.nextTurn(() => this.#look())
  }

  #sleep(now: number): void {
    const { bell, collector } = this.#parts
    this.#endRest()
    bell.announceSleep()
    // Look again after the announcement (pairs with publish() and then ring()).
    if (collector.hasAnswers) this.#pollFrom(now)
  }

  /** True when the host will look by itself in a moment: until then only an idle worker rings. */
  #startRest(): boolean {
    const { bell, clock, group } = this.#parts
    if (this.#nextLook !== null || !this.#isWaiting || group.mayPoll) return false
    const restMs = Math.min(this.#backlogMs() * REST_SHARE, LONGEST_REST_MS)
    if (!(restMs >= SHORTEST_REST_MS)) return false
    bell.announceRest()
    this.#rest = clock.after(restMs, () => this.#look())
    return true
  }

  #endRest(): void {
    this.#rest?.cancel()
    this.#rest = null
  }

  /** How long the queue keeps the workers busy, judged by the last answer. */
  #backlogMs(): number {
    const { collector, group, posted, slotsPerWorker } = this.#parts
    return (posted.queue.unclaimed * collector.lastRunMs) / (group.acceptingWorkers * slotsPerWorker || 1)
  }

  #shouldPoll(): boolean {
    return this.#parts.group.mayPoll && this.#spin.shouldSpin()
  }
}
