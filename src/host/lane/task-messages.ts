// Handles the messages of running tasks to their callers: progress, calls of the caller's functions, and streams.
import { sendAs } from '../../shared/codec/shared-handle.js'
import { NotCloneableError, type PoolError } from '../../shared/errors/pool-errors.js'
import { serializeError } from '../../shared/errors/serialize-error.js'
import { refusedPath } from '../../shared/errors/uncloneable-path.js'
import type { CallAnswer, ToHost } from '../../shared/messages/messages.js'
import { outgoing } from '../../shared/messages/outgoing.js'
import type { Settler } from '../task/settle.js'
import type { PostToTask, StreamEnd } from '../task/stream-end.js'
import type { Task } from '../task/task.js'
import type { Worker } from '../workers/worker.js'
import type { Lender } from './lent-slots.js'
import type { PostedTasks } from './posted-tasks.js'

type MessageOf<Kind> = Extract<ToHost, { kind: Kind }>

export interface TaskMessagesParts {
  posted: PostedTasks
  settler: Settler
  cancel: (task: Task, error: PoolError) => void
  /** A task waits for its caller, so its slot is free for a task that the caller submits. */
  onSlotLent: () => void
}

export class TaskMessages {
  readonly #parts: TaskMessagesParts
  readonly #posted: PostedTasks
  readonly #streams = new WeakMap<Task, StreamEnd>()

  constructor(parts: TaskMessagesParts) {
    this.#parts = parts
    this.#posted = parts.posted
  }

  /** Calls the caller's function. Returns `null`, or the task and what the function has thrown. */
  onProgress(worker: Worker, message: MessageOf<'progress'>): { task: Task; thrown: unknown } | null {
    worker.tasks.noteHeard()
    if (worker.link.kind === 'process') worker.link.post({ kind: 'progress-heard' })
    const task = this.#running(worker, message)
    if (task === null || task.terms.onProgress === null) return null
    try {
      task.terms.onProgress(message.value)
      return null
    } catch (thrown) {
      return { task, thrown }
    }
  }

  onCall(worker: Worker, message: MessageOf<'call'>): void {
    const task = this.#running(worker, message)
    if (task === null) return
    const lender = this.#posted.lend(task, worker.id)
    void this.#call(task, message, lender).then(answer => {
      this.#posted.takeBackSlot(task, lender)
      this.#answer(worker, message, answer)
    })
    this.#parts.onSlotLent()
  }

  async #call({ terms }: Task, { name, args }: MessageOf<'call'>, lender: Lender): Promise<CallAnswer> {
    try {
      const { functions } = terms
      if (functions === null || !functions.has(name)) throw noFunction(name, functions)
      return { value: await functions.get(name)!(args, call => this.#posted.lent.run(lender, call)) }
    } catch (thrown) {
      return { error: serializeError(thrown) }
    }
  }

  #answer(worker: Worker, { callId, taskId }: MessageOf<'call'>, answer: CallAnswer): void {
    if (worker.state === 'exited') return
    const head = { kind: 'call-answer', taskId, callId } as const
    if ('error' in answer) return worker.link.post({ ...head, ...answer })
    const { value } = answer
    try {
      sendAs(null, 0, () => {
        const sent = outgoing(value)
        worker.link.post({ ...head, value: sent.value }, sent.transferList)
      })
    } catch (failure) {
      const error = new NotCloneableError(
        refusedPath(failure, value, 'value').replace(/^value/, 'result'),
        failure,
      )
      worker.link.post({ ...head, error: serializeError(error) })
    }
  }

  onStreamOpened(worker: Worker, message: MessageOf<'stream-opened'>): void {
    const { taskId } = message
    const { settler, cancel } = this.#parts
    const task = this.#running(worker, message)
    if (task === null || task.terms.openStream === null) return
    const post: PostToTask = (inner, transferList) => {
      if (worker.state === 'exited') return
      sendAs(null, 0, () => worker.link.post({ kind: 'stream', taskId, message: inner }, transferList))
    }
    const { end, result } = task.terms.openStream(post, error => cancel(task, error))
    this.#streams.set(task, end)
    if (result !== null) settler.resolveEarly(task, result, answer => end.onAnswer(answer))
  }

  onStream(worker: Worker, message: MessageOf<'stream'>): void {
    const task = this.#running(worker, message)
    if (task !== null) this.#streams.get(task)?.onMessage(message.message)
  }

  /** `null` when the task has settled, or when the host has sent it to another worker since. */
  #running(worker: Worker, { ticket, taskId }: { ticket: number; taskId: number }): Task | null {
    const task = this.#posted.at(ticket, taskId)
    return task !== null && task.state !== 'settled' && worker.tasks.hasStarted(task) ? task : null
  }
}

function noFunction(name: string, functions: ReadonlyMap<string, unknown> | null): TypeError {
  const given = functions === null ? 'none' : [...functions.keys()].map(key => `'${key}'`).join(', ')
  return new TypeError(
    `The handler called '${name}', and the caller gave no function of that name. Given: ${given}. Add it to the option 'functions' of the call.`,
  )
}
