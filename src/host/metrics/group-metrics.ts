// The figures of groups for `stats().groups`: the run time of about the last 10 seconds, and a histogram of wait times. At most
// 256 groups have figures. A group with more run time takes the place of one with less.
import { DurationHistogram } from './histogram.js'

const MOST_GROUPS = 256
/** The figures cover the present period and the one before. */
const PERIOD_MS = 5000

class RecentRunTime {
  #period = 0
  #presentMs = 0
  #previousMs = 0

  add(now: number, runMs: number): void {
    this.#goTo(now)
    this.#presentMs += runMs
  }

  at(now: number): number {
    this.#goTo(now)
    return this.#presentMs + this.#previousMs
  }

  #goTo(now: number): void {
    const period = Math.floor(now / PERIOD_MS)
    if (period <= this.#period) return
    this.#previousMs = period === this.#period + 1 ? this.#presentMs : 0
    this.#presentMs = 0
    this.#period = period
  }
}

/** One group. Its queue writes `size`, `running` and `ranMs`. */
export interface CountedGroup {
  readonly name: string
  readonly size: number
  readonly running: number
  /** The run time since the queue knows the group. */
  readonly ranMs: number
}

export class GroupFigures {
  readonly name: string
  readonly recent = new RecentRunTime()
  /** `null` before the first answer. */
  waits: DurationHistogram | null = null
  /** `null`: the queue does not know the group now. */
  group: CountedGroup | null
  isListed = true

  constructor(group: CountedGroup) {
    this.name = group.name
    this.group = group
  }

  get hasTasks(): boolean {
    return this.group !== null && this.group.size + this.group.running > 0
  }
}

/** One entry of `stats().groups`. */
interface GroupSnapshot {
  group: string
  size: number
  running: number
  waitP99Ms: number | null
  share: number | null
}

export class GroupMetrics {
  readonly #recordsWaits: boolean
  readonly #byName = new Map<string, GroupFigures>()
  readonly #list: GroupFigures[] = []
  readonly #all = new RecentRunTime()
  /** The next place in the list that may be taken over. */
  #hand = 0

  constructor(recordsWaits: boolean) {
    this.#recordsWaits = recordsWaits
  }

  /** The figures of the group; `null` when other groups have all places. */
  of(group: CountedGroup, now: number): GroupFigures | null {
    const known = this.#byName.get(group.name)
    if (known !== undefined) {
      known.group = group
      return known
    }
    const place = this.#list.length < MOST_GROUPS ? this.#list.length : this.#placeFor(group, now)
    if (place === null) return null
    const figures = new GroupFigures(group)
    this.#list[place] = figures
    this.#byName.set(group.name, figures)
    return figures
  }

  /** Compares with one of the groups. Each call compares with the next one. */
  #placeFor({ ranMs }: CountedGroup, now: number): number | null {
    const place = this.#hand
    this.#hand = (place + 1) % MOST_GROUPS
    const present = this.#list[place]!
    const recentMs = present.recent.at(now)
    const isUsed = recentMs > 0 || present.hasTasks
    if (isUsed && recentMs >= ranMs) return null
    present.isListed = false
    this.#byName.delete(present.name)
    return place
  }

  onRun(figures: GroupFigures | null, now: number, runMs: number): void {
    this.#all.add(now, runMs)
    figures?.recent.add(now, runMs)
  }

  onAnswered(figures: GroupFigures, waitMs: number): void {
    figures.waits ??= new DurationHistogram()
    if (this.#recordsWaits) figures.waits.record(waitMs)
  }

  /** The groups with tasks, or with run time lately. */
  snapshot(now: number): GroupSnapshot[] {
    const allMs = this.#all.at(now)
    return this.#list
      .map(figures => ({ figures, recentMs: figures.recent.at(now) }))
      .filter(({ figures, recentMs }) => recentMs > 0 || figures.hasTasks)
      .sort((one, other) => other.recentMs - one.recentMs)
      .map(({ figures: { name, group, waits }, recentMs }) => ({
        group: name,
        size: group?.size ?? 0,
        running: group?.running ?? 0,
        waitP99Ms: waits === null || waits.count === 0 ? null : waits.percentile(99),
        share: waits === null ? null : allMs === 0 ? 0 : recentMs / allMs,
      }))
  }
}
