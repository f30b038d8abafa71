// The items of a map between its input and its consumer: running, or with a result that was not taken yet.

type OnAnswer<Task> = (item: MapItem<Task>, answer: unknown) => void

/** One object for each item, because a map over small items spends its time on them. */
export class MapItem<Task> {
  readonly item: unknown
  readonly index: number
  state: 'running' | 'answered' | 'ready' = 'running'
  /** The answer to the task, then the result. */
  value: unknown = undefined
  /** `null` until the task is submitted, and when it is answered. */
  task: Task | null = null
  previous: MapItem<Task> | null
  next: MapItem<Task> | null = null
  readonly #onAnswer: OnAnswer<Task>

  constructor(item: unknown, index: number, previous: MapItem<Task> | null, onAnswer: OnAnswer<Task>) {
    this.item = item
    this.index = index
    this.previous = previous
    this.#onAnswer = onAnswer
  }

  /** Takes the result, or a `Rejection`. */
  settle(answer: unknown): void {
    this.#onAnswer(this, answer)
  }
}

export class MapItems<Task> {
  readonly #isOrdered: boolean
  readonly #onAnswer: OnAnswer<Task>
  /** Items that were pulled and not yet given to the consumer: in input order, or without order only the running ones. */
  #first: MapItem<Task> | null = null
  #last: MapItem<Task> | null = null
  /** Without order: results in the order in which they were ready. */
  #ready: MapItem<Task> | null = null
  #lastReady: MapItem<Task> | null = null
  #size = 0

  constructor(isOrdered: boolean, onAnswer: OnAnswer<Task>) {
    this.#isOrdered = isOrdered
    this.#onAnswer = onAnswer
  }

  get size(): number {
    return this.#size
  }

  add(item: unknown, index: number): MapItem<Task> {
    const added = new MapItem(item, index, this.#last, this.#onAnswer)
    if (this.#last === null) this.#first = added
    else this.#last.next = added
    this.#last = added
    this.#size++
    return added
  }

  setResult(item: MapItem<Task>, value: unknown): void {
    item.value = value
    item.state = 'ready'
    if (this.#isOrdered) return
    this.#unlink(item)
    if (this.#lastReady === null) this.#ready = item
    else this.#lastReady.next = item
    this.#lastReady = item
  }

  /** The item has no result. */
  skip(item: MapItem<Task>): void {
    this.#unlink(item)
    this.#size--
  }

  /** The next result, or `null` when it is not ready. */
  take(): MapItem<Task> | null {
    const item = this.#isOrdered ? this.#first : this.#ready
    if (item === null || item.state !== 'ready') return null
    if (this.#isOrdered) this.#unlink(item)
    else {
      this.#ready = item.next
      if (this.#ready === null) this.#lastReady = null
    }
    this.#size--
    return item
  }

  /** The tasks of running items. */
  *runningTasks(): Generator<Task> {
    for (let item = this.#first; item !== null; item = item.next) {
      if (item.state === 'running' && item.task !== null) yield item.task
    }
  }

  /** Keeps the results that the consumer may still take: the results before the first item that has none. */
  dropUnfinished(): void {
    let last: MapItem<Task> | null = null
    let next = this.#isOrdered ? this.#first : null
    while (next !== null && next.state === 'ready') {
      last = next
      next = next.next
    }
    this.#last = last
    if (last === null) this.#first = null
    else last.next = null
  }

  clear(): void {
    this.#first = this.#last = this.#ready = this.#lastReady = null
  }

  #unlink(item: MapItem<Task>): void {
    const { previous, next } = item
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    item.previous = item.next = null
  }
}
