// A heap of items by due time, soonest first. Each item stores its index, so the heap removes it without a search.

export interface Due {
  dueAt: number
  /** The index in the heap; -1: not in the heap. Only the heap writes it. */
  place: number
}

export class DueHeap<Item extends Due> {
  readonly #items: Item[] = []

  get soonest(): Item | null {
    return this.#items[0] ?? null
  }

  add(item: Item): void {
    this.#rise(item, this.#items.push(item) - 1)
  }

  remove(item: Item): void {
    const { place } = item
    if (place < 0) return
    item.place = -1
    const last = this.#items.pop()!
    if (last === item) return
    this.#rise(last, place)
    this.#sink(last, last.place)
  }

  #rise(item: Item, place: number): void {
    for (;;) {
      const above = (place - 1) >> 1
      const parent = this.#items[above]
      if (place === 0 || parent!.dueAt <= item.dueAt) return this.#put(item, place)
      this.#put(parent!, place)
      place = above
    }
  }

  #sink(item: Item, place: number): void {
    for (;;) {
      const left = 2 * place + 1
      const right = left + 1
      const child = this.#dueAt(right) < this.#dueAt(left) ? right : left
      if (this.#dueAt(child) >= item.dueAt) return this.#put(item, place)
      this.#put(this.#items[child]!, place)
      place = child
    }
  }

  #dueAt(place: number): number {
    return place < this.#items.length ? this.#items[place]!.dueAt : Number.POSITIVE_INFINITY
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item
    item.place = place
  }
}
