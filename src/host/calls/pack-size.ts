// Chooses how many items of a map one task gets, by the measured run times of the tasks.

const GOAL_MS = 0.35
const MOST_ITEMS = 512
/** A task has at most so many times as many items as a measured one. */
const GROWTH = 4
/** A shorter time counts more: the first tasks also load the handler, and compile it. */
const SHARE_OF_SHORTER = 1 / 2
const SHARE_OF_LONGER = 1 / 4

export class PackSize {
  items = 1
  #itemMs: number | null = null

  /** A task with so many items ran for this time. */
  note(runMs: number, items: number): void {
    const itemMs = runMs / items
    const known = this.#itemMs ?? itemMs
    const share = itemMs < known ? SHARE_OF_SHORTER : SHARE_OF_LONGER
    this.#itemMs = known + (itemMs - known) * share
    const most = Math.min(Math.max(GROWTH * items, this.items), MOST_ITEMS)
    this.items = Math.max(Math.min(Math.floor(GOAL_MS / this.#itemMs), most), 1)
  }
}
