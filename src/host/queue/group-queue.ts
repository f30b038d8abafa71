// The queue of a pool with the option `groups`. It shares the workers among groups by start-time fair queueing:
//
//   finish        the run time of the group, divided by its weight
//   start tag     `finish`, and the estimated run time of the tasks that workers have. The group with the lowest tag is next.
//   virtual time  the start tag of the latest task that left the queue
//   floor         the virtual time when the group began to wait. Its start tag is not below, so idle time gives no advantage.
//
// Within a group, the order by `priority` and aging holds. A group at its limit waits until one of its tasks has ended.
import type { GroupOptions } from '../../api/pool-options.js'
import type { TaskQueue } from '../../api/queue.js'
import type { QueuedTask } from '../../api/queued-task.js'
import type { GroupStats } from '../../api/stats.js'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { describe } from '../../shared/options/option-table.js'
import { type Clock, realClock } from '../../shared/platform/clock.js'
import { type CountedGroup, type GroupFigures, GroupMetrics } from '../metrics/group-metrics.js'
import { oldestOf, type Task } from '../task/task.js'
import { Heap } from './heap.js'
import { taskOrder } from './priority-queue.js'

/** The `queueIndex` of a task that has left the queue, while its worker has not answered. */
const LEFT = -2
/** The `queueIndex` of an answered task. Its run time is charged. It may still run again. */
const ANSWERED = -3
const OVER = -1

/** The queue remembers the run time of this many groups without tasks. It forgets the group that is idle for the longest time. */
const MOST_IDLE_GROUPS = 10_000
/** The estimate before the first answer. */
const FIRST_ESTIMATE_MS = 1
const SHARE_OF_LATEST = 1 / 8
/** Other weights would make sums of run times inexact. */
const LEAST_WEIGHT = 1e-6
const MOST_WEIGHT = 1e6
const UNKNOWN_WEIGHT = 0

class Group implements CountedGroup {
  readonly name: string
  readonly tasks: Heap<Task>
  weight = UNKNOWN_WEIGHT
  /** Tasks that left the queue, are not answered and not over. */
  running = 0
  /** Answered tasks that are not over. */
  answered = 0
  /** How many of the tasks wait because the group is at its limit. */
  held = 0
  finish = 0
  floor = 0
  tag = 0
  ranMs = 0
  /** The estimated run time of one task. */
  estimateMs: number
  figures: GroupFigures | null = null
  /** The index in the heap of groups. */
  queueIndex = OVER
  /** Groups with equal tags take turns in this order. */
  order = 0
  /** The group has no tasks. The neighbours are in the list of idle groups. */
  isIdle = false
  previous: Group | null = null
  next: Group | null = null

  constructor(name: string, tasks: Heap<Task>, estimateMs: number) {
    this.name = name
    this.tasks = tasks
    this.estimateMs = estimateMs
  }

  get size(): number {
    return this.tasks.size
  }

  get hasTasks(): boolean {
    return this.tasks.size + this.running + this.answered > 0
  }

  /** What one task costs, by the estimate. */
  get cost(): number {
    return this.estimateMs / this.weight
  }

  /** The start tag of its next task. */
  get nextTag(): number {
    return Math.max(this.finish, this.floor) + this.running * this.cost
  }

  charge(runMs: number): void {
    this.ranMs += runMs
    this.finish = Math.max(this.finish, this.floor) + runMs / this.weight
  }
}

export class GroupQueue implements TaskQueue {
  readonly capacity = Number.POSITIVE_INFINITY
  /** `createCore()` sets the clock of the pool. */
  clock: Clock = realClock
  readonly #limit: number
  readonly #weight: GroupOptions['weight']
  readonly #taskOrder: (one: Task, other: Task) => boolean
  readonly #metrics: GroupMetrics
  readonly #groups = new Map<string, Group>()
  /** The groups whose next task may start. */
  readonly #ready = new Heap<Group>(isNext)
  readonly #idle = new IdleGroups()
  #virtualTime = 0
  /** The virtual time before the latest task left the queue, and the id of that task. */
  #earlierTime = 0
  #latestId = 0
  #latestFinish = 0
  #estimateMs = FIRST_ESTIMATE_MS
  #size = 0
  #held = 0
  #arrived = 0
  #turns = 0

  constructor({ limit, weight }: GroupOptions, agingMs: number, recordsWaits: boolean) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY
    this.#weight = weight
    this.#taskOrder = taskOrder(agingMs)
    this.#metrics = new GroupMetrics(recordsWaits)
  }

  get size(): number {
    return this.#size
  }

  /** How many of the tasks wait because their groups are at the limit. */
  get held(): number {
    return this.#held
  }

  /** For tests: the groups that the queue remembers. */
  get groupCount(): number {
    return this.#groups.size
  }

  /** The task that was accepted first. */
  get oldest(): Task | null {
    const oldest: Task[] = []
    for (const { tasks } of this.#groups.values()) {
      const task = oldestOf(tasks.items)
      if (task !== null) oldest.push(task)
    }
    return oldestOf(oldest)
  }

  /** Throws the error of the function `weight`. Then the task is not queued. */
  push(queued: QueuedTask): void {
    const task = queued as Task
    const name = nameOf(task)
    let group = this.#groups.get(name)
    if (group === undefined) {
      group = new Group(name, new Heap(this.#taskOrder), this.#estimateMs)
      this.#groups.set(name, group)
    }
    task.queueOrder = this.#arrived++
    const hadTasks = group.hasTasks
    if (task.queueIndex === LEFT) group.running--
    group.tasks.add(task)
    this.#size++
    if (!hadTasks) this.#activate(group, task)
    this.#place(group)
  }

  /** Asks for the weight: the group had no tasks. The function `weight` may use the pool, so the task is already queued. */
  #activate(group: Group, task: Task): void {
    this.#idle.remove(group)
    try {
      group.weight = this.#weight === undefined ? 1 : checkedWeight(this.#weight(group.name), group.name)
    } catch (failure) {
      if (group.tasks.remove(task)) this.#size--
      if (group.weight === UNKNOWN_WEIGHT) group.weight = 1
      this.#place(group)
      this.#retireIfIdle(group)
      throw failure
    }
    group.figures = this.#metrics.of(group, task.createdAt)
  }

  /** Puts back a task that no worker can start now, or that runs again. */
  unshift(queued: QueuedTask): void {
    const task = queued as Task
    const group = this.#groups.get(nameOf(task))!
    this.#endRun(group, task)
    task.assignedAt = null
    group.tasks.add(task)
    this.#size++
    this.#place(group, true)
    // Later groups start where they would have started if this task had not left.
    const first = this.#ready.first
    if (task.id === this.#latestId) this.#virtualTime = this.#earlierTime
    else if (first !== null) this.#virtualTime = Math.min(this.#virtualTime, first.tag - first.cost)
    this.#latestId = 0
  }

  /** Returns `null` when no task may start. */
  shift(): QueuedTask | null {
    const group = this.#ready.first
    if (group === null) return null
    const task = group.tasks.first!
    this.#earlierTime = this.#virtualTime
    this.#latestId = task.id
    this.#virtualTime = Math.max(this.#virtualTime, group.tag)
    this.#take(group, task)
    return task
  }

  remove(queued: QueuedTask): void {
    const task = queued as Task
    const group = this.#groups.get(nameOf(task))
    if (group?.tasks.has(task)) this.#take(group, task)
  }

  /** Removes all tasks, also those of groups at their limit. */
  *drain(): Generator<Task> {
    for (const group of this.#groups.values()) {
      for (let task = group.tasks.first; task !== null; task = group.tasks.first) {
        this.#take(group, task)
        yield task
      }
    }
  }

  /** True when the task waits because its group is at the limit. */
  isHeld(task: Task): boolean {
    const group = this.#groups.get(nameOf(task))
    return group !== undefined && group.held > 0 && group.tasks.has(task)
  }

  /** Call it when the worker has answered, with the run time. Another task of the group may start. */
  onAnswered(task: Task, runMs: number): void {
    if (task.queueIndex !== LEFT) return
    const group = this.#groups.get(nameOf(task))!
    const now = task.assignedAt! + runMs
    task.queueIndex = ANSWERED
    group.running--
    group.answered++
    group.estimateMs += (runMs - group.estimateMs) * (group.ranMs === 0 ? 1 : SHARE_OF_LATEST)
    this.#estimateMs += (runMs - this.#estimateMs) * SHARE_OF_LATEST
    this.#charge(group, now, runMs)
    if (group.figures !== null) this.#metrics.onAnswered(group.figures, task.assignedAt! - task.createdAt)
    this.#place(group)
  }

  /** Call it when the task has settled and no worker has it any more. */
  onOver(task: Task): void {
    if (task.queueIndex !== LEFT && task.queueIndex !== ANSWERED) return
    const group = this.#groups.get(nameOf(task))!
    const wasAnswered = task.queueIndex === ANSWERED
    this.#endRun(group, task)
    task.queueIndex = OVER
    if (!wasAnswered) this.#place(group)
    this.#retireIfIdle(group)
  }

  /** For `stats().groups`. */
  stats(): GroupStats[] {
    return this.#metrics.snapshot(this.clock.now())
  }

  /** A run without an answer costs the time from its start: `assignedAt` is `null` if no worker has started the task. */
  #endRun(group: Group, task: Task): void {
    if (task.queueIndex === ANSWERED) {
      group.answered--
    } else {
      group.running--
      if (task.assignedAt !== null) {
        const now = this.clock.now()
        this.#charge(group, now, Math.max(now - task.assignedAt, 0))
      }
    }
  }

  #charge(group: Group, now: number, runMs: number): void {
    group.charge(runMs)
    this.#latestFinish = Math.max(this.#latestFinish, group.finish)
    if (group.figures?.isListed !== true) group.figures = this.#metrics.of(group, now)
    this.#metrics.onRun(group.figures, now, runMs)
  }

  #take(group: Group, task: Task): void {
    group.tasks.remove(task)
    task.queueIndex = LEFT
    this.#size--
    group.running++
    this.#place(group)
  }

  /**
   * Moves the group to its place among the groups whose next task may start.
   * @param isBack true when one of its tasks came back. Then the group keeps its turn, and starts up to one task earlier.
   */
  #place(group: Group, isBack = false): void {
    const isAtLimit = group.running >= this.#limit
    const held = isAtLimit ? group.size : 0
    this.#held += held - group.held
    group.held = held
    if (isAtLimit || group.size === 0 || group.weight === UNKNOWN_WEIGHT) {
      this.#ready.remove(group)
      return
    }
    const isNew = group.queueIndex < 0
    if (isNew) {
      const least = this.#virtualTime - (group.running + (isBack ? 1 : 0)) * group.cost
      group.floor = isBack || group.running > 0 ? Math.max(group.floor, least) : least
      if (!isBack) group.order = ++this.#turns
    }
    group.tag = group.nextTag
    if (isNew) this.#ready.add(group)
    else this.#ready.reorder(group)
  }

  #retireIfIdle(group: Group): void {
    if (group.hasTasks) return
    const forgotten = this.#idle.add(group)
    if (forgotten !== null) this.#groups.delete(forgotten.name)
    // Nobody waits, so nobody has used more than another.
    if (this.#idle.size === this.#groups.size) this.#virtualTime = this.#latestFinish
  }
}

/** The groups without tasks, in the order in which they became idle. */
class IdleGroups {
  size = 0
  #first: Group | null = null
  #last: Group | null = null

  /** Returns a group that must be forgotten. */
  add(group: Group): Group | null {
    group.isIdle = true
    group.previous = this.#last
    if (this.#last === null) this.#first = group
    else this.#last.next = group
    this.#last = group
    this.size++
    const first = this.#first!
    if (this.size <= MOST_IDLE_GROUPS) return null
    this.remove(first)
    return first
  }

  remove(group: Group): void {
    if (!group.isIdle) return
    const { previous, next } = group
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    group.previous = null
    group.next = null
    group.isIdle = false
    this.size--
  }
}

/** Among equal tags, the group with fewer running tasks is next. */
function isNext(one: Group, other: Group): boolean {
  if (one.tag !== other.tag) return one.tag < other.tag
  if (one.running !== other.running) return one.running < other.running
  return one.order < other.order
}

/** The tasks without a group form the group `''`. */
function nameOf({ terms }: Task): string {
  return terms.group ?? ''
}

function checkedWeight(given: unknown, name: string): number {
  if (typeof given === 'number' && given > 0 && Number.isFinite(given))
    return Math.min(Math.max(given, LEAST_WEIGHT), MOST_WEIGHT)
  throw new InvalidOptionError(
    'groups.weight',
    `The option 'groups.weight' returned ${describe(given)} for the group '${name}'. Return a finite number above 0.`,
  )
}
