// Lent slots. While a task waits for functions of its caller, it needs no slot. Such a function may submit tasks to the same
// pool and wait for them. If the waiting task kept its slot, both could wait forever.
//
//   lender    a task that has called a function of its caller
//   child     an unsettled task that such a function submitted, found by its async context
//   borrower  a child that the host has sent to the slot of its lender
//
// A worker with one slot runs one task at a time. So a lender lends its slot to its own children only, one after another. An exclusive
// task does the same. Where workers have several slots, a lender lends to any task: its slot counts as free while it waits.
import type { AsyncLocalStorage as Storage } from 'node:async_hooks'
import { AsyncLocalStorage } from '../../shared/platform/async-context.js'
import type { Task } from '../task/task.js'

/** One run of a task on a worker, from its first call of a function. */
export class Lender {
  readonly taskId: number
  readonly workerId: number
  /** The key that the task has until it ends. `null`: none. */
  readonly #key: string | null
  /** Any task may use the slot. */
  readonly isOpen: boolean
  readonly children = new Set<Task>()
  /** Calls without an answer. */
  calls = 0
  borrower: Task | null = null
  /** A caller of `room()` has been promised the slot, and submits its task in this turn of the event loop. */
  isPromised = false
  /** The task has settled or has left its worker. */
  isOver = false
  /** The lender whose child this task is. */
  #outer: Lender | null

  constructor(task: Task, workerId: number, isOpen: boolean, outer: Lender | null) {
    this.taskId = task.id
    this.workerId = workerId
    this.#key = task.terms.isSerial ? task.key : null
    this.isOpen = isOpen
    this.#outer = outer
    // A chain of tasks, each submitted by a function of the one before, must not keep all of them in memory.
    if (outer !== null) outer.#outer = outer.#outer?.present ?? null
  }

  get isWaiting(): boolean {
    return this.calls > 0
  }

  /** True when this task waits and has the key, or when a task that waits for this one has it. */
  waitsWithKey(key: string): boolean {
    if (this.isWaiting && this.#key === key) return true
    return this.#outer?.waitsWithKey(key) ?? false
  }

  /** This lender, or the nearest outer one that is not over. */
  get present(): Lender | null {
    return this.isOver ? (this.#outer?.present ?? null) : this
  }
}

export class LentSlots {
  readonly #slotsPerWorker: number
  /** `null` until the first call of a function. Until then the check of each new task is one comparison. */
  #context: Storage<Lender> | null = null
  readonly #lenders = new Map<Task, Lender>()
  readonly #children = new Map<Task, Lender>()
  /** The children that only one worker can run. */
  readonly #pinned = new Set<Task>()
  readonly #borrowers = new Map<Task, Lender>()

  constructor(slotsPerWorker: number) {
    this.#slotsPerWorker = slotsPerWorker
  }

  get isAny(): boolean {
    return this.#lenders.size > 0
  }

  // Lenders.

  /** Runs a function of the task's caller. Tasks that it submits are children of the lender. */
  run<T>(lender: Lender, call: () => T): T {
    this.#context ??= new AsyncLocalStorage()
    return this.#context.run(lender, call)
  }

  /** The lender for whose task the current code runs. */
  get current(): Lender | null {
    return this.#context === null ? null : (this.#context.getStore()?.present ?? null)
  }

  /** The task waits for one more function. `Slots` counts the slots. */
  lend(task: Task, workerId: number): Lender {
    let lender = this.#lenders.get(task)
    if (lender === undefined) {
      const isOpen = this.#slotsPerWorker > 1 && !task.isExclusive && !this.#borrowers.has(task)
      lender = new Lender(task, workerId, isOpen, this.#children.get(task) ?? null)
      this.#lenders.set(task, lender)
    }
    if (!lender.isOver) lender.calls++
    return lender
  }

  /** One function has answered. */
  takeBack(lender: Lender): void {
    if (!lender.isOver) lender.calls--
  }

  /** The task waits for no more functions: it was answered or cancelled, or has left its worker. */
  end(task: Task): void {
    const lender = this.#lenders.get(task)
    if (lender === undefined || lender.isOver) return
    lender.isOver = true
    lender.calls = 0
    const heir = lender.present
    for (const child of lender.children) {
      this.#remove(child)
      if (heir !== null) this.#add(child, heir)
    }
  }

  /** The task has left its worker. Yields the borrowers of its slot, which use a slot of their own from now on. */
  *release(task: Task): Generator<Task> {
    const lender = this.#lenders.get(task)
    this.#lenders.delete(task)
    this.returnSlot(task)
    if (lender === undefined) return
    for (const [borrower, of] of this.#borrowers) {
      if (of !== lender) continue
      this.#borrowers.delete(borrower)
      yield borrower
    }
  }

  /** The lenders that wait for functions. */
  *waiting(): Generator<Lender> {
    for (const lender of this.#lenders.values()) if (lender.isWaiting) yield lender
  }

  // Children.

  /** Call it for each new task, in the context of its caller. */
  adopt(task: Task): void {
    const lender = this.current
    if (lender === null) return
    lender.isPromised = false
    this.#add(task, lender)
  }

  #add(child: Task, lender: Lender): void {
    this.#children.set(child, lender)
    lender.children.add(child)
    if (child.isPinned) this.#pinned.add(child)
  }

  /** Call it for each settled task. */
  onSettled(task: Task): void {
    if (this.#children.size > 0) this.#remove(task)
  }

  #remove(task: Task): void {
    const lender = this.#children.get(task)
    if (lender === undefined) return
    lender.children.delete(task)
    this.#children.delete(task)
    this.#pinned.delete(task)
  }

  isChild(task: Task): boolean {
    return this.#children.size > 0 && this.#children.has(task)
  }

  /**
   * The tasks that may use the slot of the lender. A pinned task needs this very worker. So it may use the slot also when a function of
   * another task submitted it: otherwise two such tasks could wait for each other.
   */
  *candidates(lender: Lender): Generator<Task> {
    for (const child of lender.children) if (!child.isPinned) yield child
    for (const child of this.#pinned) if (child.terms.workerId === lender.workerId) yield child
  }

  // Borrowers.

  borrow(task: Task, lender: Lender): void {
    lender.borrower = task
    this.#borrowers.set(task, lender)
  }

  returnSlot(task: Task): void {
    const lender = this.#borrowers.get(task)
    if (lender === undefined) return
    this.#borrowers.delete(task)
    if (lender.borrower === task) lender.borrower = null
  }

  // Counts.

  /** The task uses no slot: another task may use its slot, or it uses the slot of its lender. */
  usesNoSlot(task: Task): boolean {
    return this.#borrowers.has(task) || this.lendsToAny(task)
  }

  /** The task waits, and any task may use its slot. */
  lendsToAny(task: Task): boolean {
    const lender = this.#lenders.get(task)
    return lender?.isOpen === true && lender.isWaiting
  }

  /** How many tasks in flight use no slot. */
  get count(): number {
    let count = 0
    for (const { isOpen, isWaiting } of this.#lenders.values()) if (isOpen && isWaiting) count++
    for (const task of this.#borrowers.keys()) if (!task.isPinned) count++
    return count
  }

  /** How many slots of the worker any task may use, although waiting tasks have them. */
  openOn(workerId: number): number {
    let count = 0
    for (const lender of this.#lenders.values()) {
      if (lender.workerId === workerId && lender.isOpen && lender.isWaiting) count++
    }
    return count
  }
}
