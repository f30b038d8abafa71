// The port of a road: how tasks get from the line to workers and under which conditions. Two kinds: over each worker's
// port, one task into one slot; or into the lane, where workers pull.
import type { ToHost } from '../../shared/messages/messages.js'
import type { Task } from '../task/task.js'
import type { Progress } from '../task/time-limits.js'
import type { WorkerHandle } from '../workers/worker-handle.js'

export interface Road {
  /** Tasks that have left the line, and have neither come back nor been answered or given up. */
  readonly posted: number
  /** Of these, the ones for which the workers have no place yet. */
  readonly ahead: number
  /** Slots that are taken; a task that runs alone takes all of its worker. */
  readonly occupied: number
  /** Of the tasks that wait, those without a place that is sure as soon as a worker has started: what `maxQueue` counts. */
  readonly queueSize: number
  /** The same for a task that has not waited in the line; false when it must. Only for an empty line. */
  placeAtOnce(task: Task): boolean
  /** Moves the task on that is next; true when it has left the line, one way or another. */
  placeNext(): boolean
  /** To be called when no more can be placed: workers are started, and woken, for what waits. */
  afterPlacing(): void
  /** What keeps the tasks before it in the line may not keep a new one. */
  readonly mayPassOthers: boolean
  onReady(worker: WorkerHandle): void
  /** Deals with a message of the worker; true when there may be room again. */
  onMessage(worker: WorkerHandle, message: ToHost): boolean
  /** An answer of the worker's could not be read. */
  onUnreadable(worker: WorkerHandle): void
  /**
   * Gives a task up that has left the line. Returns the worker that runs it, if any: it keeps the slot until it says that
   * the handler has ended.
   */
  abandon(task: Task): WorkerHandle | null
  /** Of a task that was given up. */
  stillRuns(worker: WorkerHandle, task: Task): boolean
  /** Of a task that was given up: the worker has not begun it, and is busy with tasks that were not. */
  isBehindOthers(worker: WorkerHandle, task: Task): boolean
  /** The worker has tasks that were not given up. */
  hasOthers(worker: WorkerHandle): boolean
  /** How far a task has come that has left the line. */
  progressOf(task: Task, now: number): Progress
  /** True when no worker has begun the task and none will. */
  takeBack(task: Task): boolean
  /**
   * For a worker that is no more, or is about to be: frees its tasks and tells how far it had come with each. While its end
   * is not `sure`, what it has answered is left out: those answers are under way.
   */
  leftBehind(worker: WorkerHandle, isSure: boolean): Iterable<LeftTask>
  /**
   * For a worker that is to leave, and works on: frees the tasks that it has not begun and never will. What was given away
   * to it is left out: nobody else can run that.
   */
  unbegun(worker: WorkerHandle): Iterable<Task>
  /** Takes back, in order, the last `most` of the tasks that have left the line and that no worker has claimed. */
  recall(most: number): Iterable<Task>
}

export interface LeftTask {
  task: Task
  wasBegun: boolean
  wasLoading: boolean
}
