// The serial keys. The first task with a key has the key. Later tasks with the same key are held in the line of the key, in the order of
// the calls. The next one gets the key when the task that has it is over. A key without tasks is forgotten.
import { oldestOf, type Task } from '../task/task.js'

/** The `queueIndex` of a held task. No queue of this package uses this number. */
const HELD = -(2 ** 30)
const ABSENT = -1

/** A linked list of the held tasks of one key. A task that is held is in no queue, so it keeps its links in the same fields. */
class Line {
  holder: Task
  first: Task | null = null
  last: Task | null = null

  constructor(holder: Task) {
    this.holder = holder
  }
}

export class KeyLines {
  readonly #lines = new Map<string, Line>()
  /** How many tasks are held. */
  held = 0

  /** Call it for each new task with a serial key. False: another task has the key, so the task is held. */
  acquire(task: Task): boolean {
    const line = this.#lines.get(task.key!)
    if (line === undefined) {
      this.#lines.set(task.key!, new Line(task))
      return true
    }
    this.#insert(line, task, line.last, null)
    return false
  }

  /** For a task that came back. True when it does not have the key, or when its last run may not have ended. */
  mustHoldAgain(task: Task, mayRun: boolean): boolean {
    let line = this.#lines.get(task.key!)
    if (line === undefined) {
      line = new Line(task)
      this.#lines.set(task.key!, line)
    }
    return line.holder !== task || mayRun
  }

  /** Holds the task before all others of its line. */
  holdAgain(task: Task): void {
    const line = this.#lines.get(task.key!)!
    this.#insert(line, task, null, line.first)
  }

  /** The task needs its key no more. Returns the task that has the key now and is no longer held; `null`: no task waited for it. */
  pass(task: Task): Task | null {
    const line = this.#lines.get(task.key!)
    if (line === undefined || line.holder !== task) return null
    const next = line.first
    if (next === null) {
      this.#lines.delete(task.key!)
      return null
    }
    line.holder = next
    this.#unlink(line, next)
    return next
  }

  isHeld(task: Task): boolean {
    return task.queueIndex === HELD
  }

  /** The task that has the key of the held task. */
  holderOf(held: Task): Task {
    return this.#lines.get(held.key!)!.holder
  }

  /** The held task that was accepted first. */
  get oldest(): Task | null {
    return this.held === 0 ? null : oldestOf(this.#firsts())
  }

  *#firsts(): Generator<Task> {
    for (const { first } of this.#lines.values()) if (first !== null) yield first
  }

  remove(held: Task): void {
    this.#unlink(this.#lines.get(held.key!)!, held)
  }

  /** Removes all held tasks. The caller may remove other tasks between two steps. */
  *drain(): Generator<Task> {
    for (const line of this.#lines.values()) {
      for (let task = line.first; task !== null; task = line.first) {
        this.#unlink(line, task)
        yield task
      }
    }
  }

  #insert(line: Line, task: Task, previous: Task | null, next: Task | null): void {
    task.queueIndex = HELD
    task.previous = previous
    task.next = next
    if (previous === null) line.first = task
    else previous.next = task
    if (next === null) line.last = task
    else next.previous = task
    this.held++
  }

  #unlink(line: Line, task: Task): void {
    const { previous, next } = task
    if (previous === null) line.first = next
    else previous.next = next
    if (next === null) line.last = previous
    else next.previous = previous
    task.previous = null
    task.next = null
    task.queueIndex = ABSENT
    this.held--
  }
}
