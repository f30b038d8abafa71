// When the jobs of a caller are looked at next: soon, and then at growing distances. Knows no server and sets no timer.

/** A job in the schedule. Only the schedule writes these fields. */
export interface ScheduleEntry {
  /** The list that has the entry. `null`: it was taken, or never added. */
  list: Set<ScheduleEntry> | null
  /** The index of the distance that the entry waits. */
  step: number
  checkAt: number
}

export function newEntry(): ScheduleEntry {
  return { list: null, step: 0, checkAt: 0 }
}

export class CheckSchedule<Entry extends ScheduleEntry> {
  readonly #distancesMs: readonly number[]
  readonly #due = new Set<Entry>()
  /** A list for each distance. All its entries wait equally long, so the order of insertion is the order of `checkAt`. */
  readonly #lists: readonly Set<Entry>[]

  /** @param distancesMs the last one is repeated */
  constructor(distancesMs: readonly number[]) {
    this.#distancesMs = distancesMs
    this.#lists = distancesMs.map(() => new Set<Entry>())
  }

  get hasDue(): boolean {
    return this.#due.size > 0
  }

  /** When the next entry that is not due becomes due. `Infinity`: no entry waits. */
  get nextAt(): number {
    let next = Number.POSITIVE_INFINITY
    for (const list of this.#lists) {
      for (const { checkAt } of list) {
        next = Math.min(next, checkAt)
        break
      }
    }
    return next
  }

  /** Adds the entry with the first distance. An entry that is due stays due. */
  restart(entry: Entry, now: number): void {
    if (entry.list === this.#due) entry.step = -1
    else this.#wait(entry, 0, now)
  }

  makeDue(entry: Entry): void {
    this.#put(entry, this.#due)
  }

  /** Adds an entry that was taken, with its next distance. An entry that was added since then keeps its place. */
  postpone(entry: Entry, now: number): void {
    if (entry.list !== null) return
    this.#wait(entry, Math.min(entry.step + 1, this.#lists.length - 1), now)
  }

  delete(entry: Entry): void {
    entry.list?.delete(entry)
    entry.list = null
  }

  /** Removes entries that are due, and returns them. */
  take(now: number, most: number): Entry[] {
    const taken: Entry[] = []
    for (const list of [this.#due, ...this.#lists]) {
      for (const entry of list) {
        if (taken.length >= most || (list !== this.#due && entry.checkAt > now)) break
        taken.push(entry)
        this.delete(entry)
      }
    }
    return taken
  }

  #wait(entry: Entry, step: number, now: number): void {
    entry.step = step
    entry.checkAt = now + this.#distancesMs[step]!
    this.#put(entry, this.#lists[step]!)
  }

  #put(entry: Entry, list: Set<Entry>): void {
    this.delete(entry)
    list.add(entry)
    entry.list = list as Set<ScheduleEntry>
  }
}
