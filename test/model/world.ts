// The things that the threads of a case share, by number: used words, messages, events, and the trees of histories.
import { History, Run, type Script } from './history.js'
import type { Event, Message, Operation } from './operation.js'

/** A word that a thread has used. */
export interface Cell {
  /** 0: the lane. Otherwise the number of the worker whose shared state it is. */
  memory: number
  index: number
}

export class World {
  readonly cells: Cell[] = []
  readonly #scripts: readonly Script[]
  readonly #histories: History[] = []
  readonly #roots: History[] = []
  /** In the order in which the host allocates them: the lane, then the shared state of each worker. */
  readonly #memories: SharedArrayBuffer[] = []
  readonly #cellNumbers = new Map<SharedArrayBuffer, Map<number, number>>()
  readonly #messages = new Numbered<Message>()
  readonly #events = new Numbered<Event>()
  readonly #arrivals: number[][] = []
  readonly #mails = new Numbered<readonly number[]>()

  constructor(scripts: readonly Script[]) {
    this.#scripts = scripts
    this.#mails.numberOf([])
  }

  get threads(): number {
    return this.#scripts.length
  }

  get historyCount(): number {
    return this.#histories.length
  }

  scriptOf(thread: number): Script {
    return this.#scripts[thread]!
  }

  /** The thread before its first step. */
  rootOf(thread: number): History {
    this.#roots[thread] ??= this.addHistory(thread, null, 0)
    return this.#roots[thread]
  }

  addHistory(thread: number, parent: History | null, found: number): History {
    const history = new History(this.#histories.length + 1, thread, parent, found)
    this.#histories.push(history)
    return history
  }

  history(number: number): History {
    return this.#histories[number - 1]!
  }

  /** The next operation of the thread. */
  next(history: History): Operation {
    if (history.operation === undefined) new Run(this, history).learn()
    return history.operation!
  }

  /** Every run of the host allocates the same memory in the same order, and gets the same objects. */
  memory(order: number, bytes: number): SharedArrayBuffer {
    this.#memories[order] ??= new SharedArrayBuffer(bytes)
    return this.#memories[order]
  }

  get lane(): SharedArrayBuffer {
    return this.#memories[0]!
  }

  cellOf(memory: SharedArrayBuffer, index: number): number {
    let numbers = this.#cellNumbers.get(memory)
    if (numbers === undefined) {
      numbers = new Map()
      this.#cellNumbers.set(memory, numbers)
    }
    let number = numbers.get(index)
    if (number === undefined) {
      number = this.cells.length
      this.cells.push({ memory: this.#memories.indexOf(memory), index })
      numbers.set(index, number)
    }
    return number
  }

  /** The cell of a word in the memory with the number `order`. */
  cellIn(order: number, index: number): number {
    return this.cellOf(this.#memories[order]!, index)
  }

  event(number: number): Event {
    return this.#events.at(number)
  }

  eventNumber(event: Event): number {
    return this.#events.numberOf(event)
  }

  /** Mail 0 is empty. */
  mailAfter(mail: number, message: Message): number {
    return this.#mails.numberOf([...this.#mails.at(mail), this.#messages.numberOf(message)])
  }

  /** The number of the event in which the first message of the mail arrives. */
  arrival(from: number, mail: number): number {
    this.#arrivals[from] ??= []
    const arrivals = this.#arrivals[from]
    arrivals[mail] ??= this.eventNumber({
      kind: 'message',
      from,
      message: this.#messages.at(this.#mails.at(mail)[0]!),
    })
    return arrivals[mail]
  }

  withoutFirst(mail: number): number {
    return this.#mails.numberOf(this.#mails.at(mail).slice(1))
  }
}

/** Gives plain values a number. Equal values have the same number. */
class Numbered<Value> {
  readonly #values: Value[] = []
  readonly #numbers = new Map<string, number>()

  at(number: number): Value {
    return this.#values[number]!
  }

  numberOf(value: Value): number {
    const key = JSON.stringify(value)
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.#values.push(value) - 1
      this.#numbers.set(key, number)
    }
    return number
  }
}
