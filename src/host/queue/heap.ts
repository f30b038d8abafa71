// A binary heap. Each item knows its index, so the heap removes it without a search.

const ABSENT = -1

export interface HeapItem {
  /** The index in the heap. Negative: the item is in no heap. */
  queueIndex: number
}

export class Heap<Item extends HeapItem> {
  readonly #items: Item[] = []
  readonly #isBefore: (one: Item, other: Item) => boolean

  constructor(isBefore: (one: Item, other: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#items.length
  }

  get first(): Item | null {
    return this.#items[0] ?? null
  }

  /** In no order. */
  get items(): readonly Item[] {
    return this.#items
  }

  has(item: Item): boolean {
    return item.queueIndex >= 0 && this.#items[item.queueIndex] === item
  }

  add(item: Item): void {
    this.#put(item, this.#items.length)
    this.#rise(item)
  }

  /** False when the item is not in this heap. */
  remove(item: Item): boolean {
    if (!this.has(item)) return false
    const place = item.queueIndex
    item.queueIndex = ABSENT
    const last = this.#items.pop()!
    if (last === item) return true
    this.#put(last, place)
    this.reorder(last)
    return true
  }

  /** Call it when what decides the order of the item has changed. */
  reorder(item: Item): void {
    this.#rise(item)
    this.#sink(item)
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item
    item.queueIndex = place
  }

  #rise(item: Item): void {
    while (item.queueIndex > 0) {
      const parent = this.#items[(item.queueIndex - 1) >> 1]!
      if (!this.#isBefore(item, parent)) return
      this.#exchange(item, parent)
    }
  }

  #sink(item: Item): void {
    const items = this.#items
    for (;;) {
      const place = 2 * item.queueIndex + 1
      if (place >= items.length) return
      const left = items[place]!
      const right = place + 1 < items.length ? items[place + 1]! : left
      const child = right !== left && this.#isBefore(right, left) ? right : left
      if (!this.#isBefore(child, item)) return
      this.#exchange(child, item)
    }
  }

  #exchange(one: Item, other: Item): void {
    const place = one.queueIndex
    this.#put(one, other.queueIndex)
    this.#put(other, place)
  }
}
