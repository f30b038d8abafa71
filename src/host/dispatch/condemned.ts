// Tasks that were cancelled after a worker had begun them. Their callers are answered; here it is seen to that their
// handlers end: they are told to stop and given a moment, then their worker is ended. The tasks beside them are not to
// suffer for it: what has not begun goes back, and what has is let finish while the worker's event loop turns.

import { type PoolError, TaskCancelledError, WorkerExitError } from '../../shared/errors/pool-errors.js'
import { serializeError } from '../../shared/errors/serialize-error.js'
import type { Clock, Timer } from '../../shared/platform/clock.js'
import type { Task } from '../task/task.js'
import type { Supervisor } from '../workers/supervisor.js'
import type { WorkerHandle } from '../workers/worker-handle.js'
import type { Road } from './road.js'

/** A worker to be ended whose event loop has not turned for so long keeps nobody waiting. */
const STUCK_AFTER_MS = 1000
/** So many timers make it up: where the whole process is held, one of them runs out, and the worker has the rest to answer. */
const STUCK_STEPS = 4
const ASK_AGAIN_AFTER_MS = 1000
/** How often it is looked whether a task still stands behind others. */
const BEHIND_LOOK_MS = 100

export interface CondemnedParts {
  clock: Clock
  supervisor: Supervisor
  road: Road
  /** How long a handler gets to end by itself; `Infinity`: its worker is never ended for it. */
  graceMs: number
  /** Called when there are none any more. */
  onNone: () => void
}

/** A worker that runs some of them. */
class Sentence {
  /** Each with the moment at which its time is over. */
  readonly tasks = new Map<Task, number>()
  /** Those of them that stood behind others when they were looked at last. */
  readonly behind = new Set<Task>()
  timer: Timer | null = null
  /** Time is over: the worker ends as soon as nobody suffers for it. */
  isEnding = false
}

export class Condemned {
  readonly #parts: CondemnedParts
  readonly #sentences = new Map<WorkerHandle, Sentence>()

  constructor(parts: CondemnedParts) {
    this.#parts = parts
  }

  /** There are some. */
  get isAny(): boolean {
    return this.#sentences.size > 0
  }

  /** The task, whose caller is answered, runs on the worker. */
  add(worker: WorkerHandle, task: Task, error: PoolError): void {
    const { clock, graceMs } = this.#parts
    let sentence = this.#sentences.get(worker)
    if (sentence === undefined) {
      sentence = new Sentence()
      this.#sentences.set(worker, sentence)
    }
    sentence.tasks.set(task, clock.now() + graceMs)
    // One that seems to start still may have said long ago that it is ready: a host that was busy hears of it first.
    const isBehind = worker.isReady && this.#parts.road.isBehindOthers(worker, task)
    if (isBehind) sentence.behind.add(task)
    // One that no end of its worker stops is told first, which takes a turn.
    const isDue = graceMs === 0 && worker.isReady && !isBehind && worker.link!.kind !== 'inline'
    if (isDue && !sentence.isEnding) this.#end(worker, sentence)
    if (this.#sentences.has(worker)) this.#tell(worker, task, error)
    if (sentence.timer === null && !sentence.isEnding) this.#setTimer(worker, sentence)
  }

  /** To be called when something has changed at a worker. */
  review(worker: WorkerHandle): void {
    const sentence = this.#sentences.get(worker)
    if (sentence === undefined || !worker.isReady) return
    if (sentence.isEnding) {
      if (!this.#parts.road.hasOthers(worker)) void this.#parts.supervisor.giveUp(worker)
      return
    }
    this.#strikeOut(sentence, worker)
    if (sentence.tasks.size === 0) this.forget(worker)
  }

  /** The worker's event loop turns. */
  onAlive(worker: WorkerHandle): void {
    const sentence = this.#sentences.get(worker)
    if (sentence === undefined || !sentence.isEnding || !worker.isReady) return
    sentence.timer?.cancel()
    if (!this.#parts.road.hasOthers(worker)) return void this.#parts.supervisor.giveUp(worker)
    sentence.timer = this.#parts.clock.after(ASK_AGAIN_AFTER_MS, () => this.#ask(worker, sentence))
  }

  /** The worker is no more, or runs none of them. */
  forget(worker: WorkerHandle): void {
    const sentence = this.#sentences.get(worker)
    if (sentence === undefined) return
    sentence.timer?.cancel()
    this.#sentences.delete(worker)
    if (this.#sentences.size === 0) this.#parts.onNone()
  }

  /** The handler's signal aborts with the caller's reason; of a limit, with its error. */
  #tell(worker: WorkerHandle, { id: taskId, slot }: Task, error: PoolError): void {
    const post = (reason: unknown) =>
      worker.link!.post({ kind: 'cancel', taskId, slot, reason: serializeError(reason) })
    try {
      post(error instanceof TaskCancelledError ? error.reason : error)
    } catch (failure) {
      post(`(a reason that could not be sent: ${String(failure)})`)
    }
  }

  #setTimer(worker: WorkerHandle, sentence: Sentence): void {
    const { clock } = this.#parts
    const dueAt = Math.min(...sentence.tasks.values())
    // After a turn: where the host was busy, it hears first of those that have ended meanwhile.
    sentence.timer = clock.after(Math.max(dueAt - clock.now(), 0), () => {
      sentence.timer = clock.nextTurn(() => this.#onTimeOver(worker, sentence))
    })
  }

  #onTimeOver(worker: WorkerHandle, sentence: Sentence): void {
    sentence.timer = null
    this.#strikeOut(sentence, worker)
    if (sentence.tasks.size === 0) return this.forget(worker)
    const { clock, graceMs, road } = this.#parts
    const now = clock.now()
    // The worker drops it when it is done with those before it, or begins it, where it has not read yet that it need not: then
    // it gets its moment from there.
    for (const [task, dueAt] of sentence.tasks) {
      if (dueAt > now) continue
      const wasBehind = sentence.behind.delete(task)
      const isBehind = road.isBehindOthers(worker, task)
      if (isBehind) sentence.behind.add(task)
      if (isBehind || wasBehind) sentence.tasks.set(task, now + Math.max(graceMs, BEHIND_LOOK_MS))
    }
    if (Math.min(...sentence.tasks.values()) <= now) this.#end(worker, sentence)
    else this.#setTimer(worker, sentence)
  }

  #end(worker: WorkerHandle, sentence: Sentence): void {
    const { road, supervisor } = this.#parts
    sentence.isEnding = true
    // It cannot be asked whether it lives.
    if (!worker.isReady) return void supervisor.giveUp(worker)
    // It might begin one after the look: dismiss first, look again afterwards.
    if (!road.hasOthers(worker)) worker.holding.dismiss()
    // It takes nothing more, and what it has not begun goes back to where it stood.
    if (road.hasOthers(worker)) supervisor.askToLeave(worker)
    if (this.#sentences.get(worker) !== sentence) return
    if (road.hasOthers(worker)) this.#ask(worker, sentence)
    else void supervisor.giveUp(worker)
  }

  #ask(worker: WorkerHandle, sentence: Sentence): void {
    worker.link!.post({ kind: 'ask' })
    this.#awaitSign(worker, sentence, STUCK_STEPS)
  }

  #awaitSign(worker: WorkerHandle, sentence: Sentence, stepsLeft: number): void {
    const { clock, supervisor } = this.#parts
    sentence.timer = clock.after(STUCK_AFTER_MS / STUCK_STEPS, () => {
      if (stepsLeft > 1) return this.#awaitSign(worker, sentence, stepsLeft - 1)
      sentence.timer = clock.nextTurn(() => void supervisor.giveUp(worker, stuck(worker)))
    })
  }

  #strikeOut(sentence: Sentence, worker: WorkerHandle): void {
    for (const task of sentence.tasks.keys()) {
      if (this.#parts.road.stillRuns(worker, task)) continue
      sentence.tasks.delete(task)
      sentence.behind.delete(task)
    }
  }
}

function stuck(worker: WorkerHandle): WorkerExitError {
  const why = 'it was ended because the handler of a cancelled task, beside this one, held its thread'
  return new WorkerExitError(worker.id, 1, new Error(`Worker ${worker.id}: ${why}.`))
}
