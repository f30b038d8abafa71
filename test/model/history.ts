// The values that a thread has read so far, as a tree. A thread is a plain function, so its next step depends only on these values.
// To learn the next step, the model runs the function again from its start. It gives the function the known values until it asks
// for a new value.
import { microtasks } from '../../src/shared/platform/microtask.js'
import { type Access, actAs, type ModelThread } from '../../src/testing/model-atomics.js'
import { type Event, findsNothing, type Message, type Note, type Operation } from './operation.js'
import type { World } from './world.js'

/** The operations that the function of a thread may use. */
export interface Self {
  readonly number: number
  post(to: number, message: Message): void
  note(note: Note): void
  start(worker: number): void
  kill(worker: number): void
  /** Waits for the next event. `own` names the events of the thread itself. */
  next(own: string[]): Event
  end(): never
  /** `audit` returns the problems at the end of an order. */
  onQuiet(audit: () => string[]): void
}

export type Script = (self: Self) => void

/** Stops a run. The code under test must not catch it. */
const stop = new Error('the model ends this run here')

/** A node of the tree. */
export class History {
  readonly number: number
  readonly thread: number
  readonly parent: History | null
  /** The last value. */
  readonly found: number
  readonly #children = new Map<number, History>()
  /** The next operation; undefined until it is needed. */
  operation: Operation | undefined

  constructor(number: number, thread: number, parent: History | null, found: number) {
    this.number = number
    this.thread = thread
    this.parent = parent
    this.found = found
  }

  child(found: number, world: World): History {
    let child = this.#children.get(found)
    if (child === undefined) {
      child = world.addHistory(this.thread, this, found)
      this.#children.set(found, child)
    }
    return child
  }

  get founds(): number[] {
    const founds: number[] = []
    for (let at: History = this; at.parent !== null; at = at.parent) founds.push(at.found)
    return founds.reverse()
  }
}

/** One run of a thread's function. */
export class Run implements Self, ModelThread {
  readonly number: number
  readonly #world: World
  readonly #founds: readonly number[]
  #done = 0
  #allocated = 0
  #isOver = false
  #history: History
  #audit: () => string[] = () => []
  /** Set during an audit, which reads the current words. */
  #look: ((cell: number) => number) | null = null

  constructor(world: World, history: History) {
    this.#world = world
    this.#history = history
    this.#founds = history.founds
    this.number = history.thread
  }

  /** Learns the next operation of the thread, and later operations that need no value. */
  learn(): void {
    actAs(this, () => this.#runScript())
  }

  /** Returns the problems of a waiting thread, with the current words. */
  audit(look: (cell: number) => number): string[] {
    return actAs(this, () => {
      this.#runScript()
      this.#look = look
      return this.#audit()
    })
  }

  #runScript(): void {
    const { post } = microtasks
    try {
      this.#world.scriptOf(this.number)(this)
      this.#operate({ kind: 'end' })
    } catch (thrown) {
      if (!this.#isOver) this.#history.operation ??= { kind: 'failed', error: thrown }
    } finally {
      microtasks.post = post
      this.#isOver = true
    }
  }

  #operate(operation: Operation): number {
    // A `finally` block of the stopped code.
    if (this.#isOver) throw stop
    if (this.#done < this.#founds.length) return this.#founds[this.#done++]!
    this.#history.operation ??= operation
    if (!findsNothing(operation)) {
      this.#isOver = true
      throw stop
    }
    this.#history = this.#history.child(0, this.#world)
    return 0
  }

  allocate(bytes: number): SharedArrayBuffer {
    return this.#world.memory(this.#allocated++, bytes)
  }

  access(access: Access): number {
    const cell = this.#world.cellOf(access.memory, access.index)
    if (this.#look !== null) return this.#look(cell)
    switch (access.kind) {
      case 'load':
      case 'read':
        return this.#operate({ kind: access.kind, cell })
      case 'store':
      case 'write':
        return this.#operate({ kind: access.kind, cell, value: access.value })
      case 'replace':
        return this.#operate({ kind: 'replace', cell, expected: access.expected, value: access.value })
    }
  }

  post(to: number, message: Message): void {
    this.#operate({ kind: 'post', to, message })
  }

  note(note: Note): void {
    this.#operate({ kind: 'note', note })
  }

  start(worker: number): void {
    this.#operate({ kind: 'start', worker })
  }

  kill(worker: number): void {
    this.#operate({ kind: 'kill', worker })
  }

  next(own: string[]): Event {
    return this.#world.event(this.#operate({ kind: 'next', own }))
  }

  end(): never {
    this.#operate({ kind: 'end' })
    throw stop
  }

  onQuiet(audit: () => string[]): void {
    this.#audit = audit
  }
}
