// What a thread has found so far, as a tree: a thread is a plain function, so what it does next depends on nothing else.
// To learn it the function is run once more from its beginning, with what it found before, up to its first new question.
import { microtasks } from '../../src/shared/platform/microtask.js'
import { type Access, actAs, type ModelThread } from '../../src/testing/model-atomics.js'
import { type Event, findsNothing, type Message, type Note, type Operation } from './operation.js'
import type { World } from './world.js'

/** What a thread's function is given to act with. */
export interface Self {
  readonly number: number
  post(to: number, message: Message): void
  note(note: Note): void
  start(worker: number): void
  kill(worker: number): void
  /** The next event. `own` names those that the thread has for itself. */
  next(own: string[]): Event
  end(): never
  /** `audit` tells what is wrong when nothing goes on any more. */
  onQuiet(audit: () => string[]): void
}

export type Script = (self: Self) => void

/** Ends a run; our code must let it pass. */
const stop = new Error('the model ends this run here')

/** A place in the tree. */
export class History {
  readonly number: number
  readonly thread: number
  readonly parent: History | null
  /** What was found last. */
  readonly found: number
  readonly #children = new Map<number, History>()
  /** What comes next; undefined until somebody asked. */
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
  /** Set when the words are looked at as they are. */
  #look: ((cell: number) => number) | null = null

  constructor(world: World, history: History) {
    this.#world = world
    this.#history = history
    this.#founds = history.founds
    this.number = history.thread
  }

  /** Learns what the thread does next, and after that as far as it is sure. */
  learn(): void {
    actAs(this, () => this.#runScript())
  }

  /** Says what is wrong with a thread that waits, with the words as they are. */
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
    // A `finally` on the way out.
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
