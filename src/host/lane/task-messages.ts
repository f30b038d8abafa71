// Delivers the messages of running tasks to the receivers of their calls, and opens the channels by which those answer.
import type { TransferItem } from '../../api/call-options.js'
import { sendAs } from '../../shared/codec/handle.js'
import { type ParentTask, runForTask } from '../../shared/context/parent-task.js'
import type { PoolError } from '../../shared/errors/pool-errors.js'
import type { ToHost } from '../../shared/messages/messages.js'
import type { BodyToTask } from '../../shared/messages/task-body.js'
import { type Clock, dateOn } from '../../shared/platform/clock.js'
import type { Receiver, TaskChannel, Within } from '../task/exchange.js'
import type { Settler } from '../task/settle.js'
import type { Task } from '../task/task.js'
import type { Worker } from '../workers/worker.js'
import type { PostedTasks } from './posted-tasks.js'

export interface TaskMessagesParts {
  clock: Clock
  posted: PostedTasks
  settler: Settler
  cancel: (task: Task, error: PoolError) => void
  /** A task waits for its caller, so its slot is free for a task that the caller submits. */
  onSlotLent: () => void
}

interface Run {
  readonly worker: Worker
  readonly receive: Receiver
}

export class TaskMessages {
  readonly #parts: TaskMessagesParts
  readonly #runs = new WeakMap<Task, Run>()

  constructor(parts: TaskMessagesParts) {
    this.#parts = parts
  }

  /** Drops the message when the task has settled, or when the host has sent it to another worker since. */
  receive(worker: Worker, message: Extract<ToHost, { kind: 'from-task' }>): void {
    if (message.isCounted === true) countHeard(worker)
    const task = this.#parts.posted.at(message.ticket, message.taskId)
    if (task === null || task.state === 'settled' || !worker.tasks.hasStarted(task)) return
    this.#receiverOf(task, worker)(message.body)
  }

  #receiverOf(task: Task, worker: Worker): Receiver {
    let run = this.#runs.get(task)
    if (run?.worker !== worker) {
      run = { worker, receive: task.terms.exchange(new Channel(this.#parts, task, worker)) }
      this.#runs.set(task, run)
    }
    return run.receive
  }
}

/** The worker sends no further counted message before it knows that the host has handled the last one. */
function countHeard(worker: Worker): void {
  worker.tasks.noteHeard()
  // A process cannot see the count.
  if (worker.link.kind === 'process') worker.link.post({ kind: 'heard' })
}

class Channel implements TaskChannel {
  readonly #parts: TaskMessagesParts
  readonly #task: Task
  readonly #worker: Worker
  #calling: CallingTask | null = null

  constructor(parts: TaskMessagesParts, task: Task, worker: Worker) {
    this.#parts = parts
    this.#task = task
    this.#worker = worker
  }

  post(body: BodyToTask, transferList?: readonly TransferItem[]): void {
    const { state, link } = this.#worker
    if (state === 'exited') return
    const { id: taskId } = this.#task
    // Only a payload may contain handles.
    sendAs(null, 0, () => link.post({ kind: 'to-task', taskId, body }, transferList))
  }

  cancel(error: PoolError): void {
    if (this.#task.state !== 'settled') this.#parts.cancel(this.#task, error)
  }

  resolveEarly(value: unknown, onAnswer: (answer: unknown) => void): void {
    this.#parts.settler.resolveEarly(this.#task, value, onAnswer)
  }

  /** Created at the first call of a function. */
  get #parent(): ParentTask {
    this.#calling ??= new CallingTask(this.#parts, this.#task)
    return this.#calling
  }

  async wait<T>(work: (within: Within) => Promise<T>): Promise<T> {
    const { posted, onSlotLent } = this.#parts
    const lender = posted.slots.lend(this.#task, this.#worker.id)
    const done = work(call => runForTask(this.#parent, () => posted.slots.lent.run(lender, call)))
    onSlotLent()
    const result = await done
    posted.slots.takeBack(this.#task, lender)
    return result
  }
}

/** The task that called a function of its caller, as a nested call sees it. */
class CallingTask implements ParentTask {
  readonly #parts: TaskMessagesParts
  readonly #task: Task
  #signal: AbortSignal | null = null

  constructor(parts: TaskMessagesParts, task: Task) {
    this.#parts = parts
    this.#task = task
  }

  /** Aborts when the task fails or is cancelled. */
  get signal(): AbortSignal {
    this.#signal ??= this.#parts.settler.failureOf(this.#task)
    return this.#signal
  }

  get deadline(): Date | undefined {
    const { clock, posted } = this.#parts
    const { timeLimit, ticket } = this.#task
    if (timeLimit === null) return undefined
    const startedAt = posted.tickets.startedAt(ticket, clock.now()) ?? clock.now()
    const dueAt = Math.min(startedAt + timeLimit.limits.timeoutMs, timeLimit.deadlineAt)
    return dueAt === Number.POSITIVE_INFINITY ? undefined : dateOn(clock, dueAt)
  }
}
