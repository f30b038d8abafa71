// The tasks of a recording. A settled task is a row of numbers, so a recording of many tasks needs little memory. When the log is full,
// the oldest rows are dropped.
import type { TaskMessage } from '../../api/channels.js'
import { realClock } from '../../shared/platform/clock.js'
import { getBuiltinModule } from '../../shared/platform/node-modules.js'

/** The trace of so many tasks has about 100 MB. */
const MOST_TASKS = 200_000
const FIRST_ROWS = 1024
const COLUMNS = 9
const NO_WORKER = -1
const OUTCOMES = ['fulfilled', 'rejected', 'cancelled', 'open'] as const

export type SliceOutcome = (typeof OUTCOMES)[number]

/** A task as the trace shows it. Times are milliseconds on the host's clock. */
export interface TaskSlice {
  poolId: number
  taskId: number
  filename: string
  name: string
  attempt: number
  outcome: SliceOutcome
  createdAt: number
  /** The end of the wait: the start of the run, or the end of a task that no worker started. */
  waitEnd: number
  /** `null`: no worker started the task. */
  run: { workerId: number; end: number } | null
}

/** An open task that a worker holds. */
export interface HeldTask {
  workerId: number
  /** `null`: not known. */
  startedAt: number | null
}

type Handler = Pick<TaskSlice, 'filename' | 'name'>

/** The kind of `diagnostics_channel.Channel` that the log uses. */
interface TaskChannel {
  subscribe(onMessage: (message: unknown) => void): void
  unsubscribe(onMessage: (message: unknown) => void): unknown
}

export class TaskLog {
  readonly #channel = getBuiltinModule('node:diagnostics_channel').tracingChannel('lido.task') as {
    start: TaskChannel
    asyncEnd: TaskChannel
  }
  readonly #pools: { has(id: number): boolean }
  readonly #open = new Set<TaskMessage>()
  readonly #handlers: Handler[] = []
  readonly #handlerIds = new Map<string, Map<string, number>>()
  #rows = new Float64Array(FIRST_ROWS * COLUMNS)
  /** How many rows were written so far. */
  #written = 0
  readonly #onStart = (message: unknown) => {
    const task = message as TaskMessage
    if (this.#pools.has(task.pool.id)) this.#open.add(task)
  }
  readonly #onEnd = (message: unknown) => {
    if (this.#open.delete(message as TaskMessage)) this.#write(message as TaskMessage)
  }

  /** @param pools the ids of the pools; may grow */
  constructor(pools: { has(id: number): boolean }) {
    this.#pools = pools
  }

  /** @param early the tasks that started since the call, while this code was loaded */
  start(early: readonly TaskMessage[]): void {
    this.#channel.start.subscribe(this.#onStart)
    this.#channel.asyncEnd.subscribe(this.#onEnd)
    for (const task of early) {
      this.#onStart(task)
      if (task.outcome !== undefined) this.#onEnd(task)
    }
  }

  stop(): void {
    this.#channel.start.unsubscribe(this.#onStart)
    this.#channel.asyncEnd.unsubscribe(this.#onEnd)
  }

  get dropped(): number {
    return Math.max(0, this.#written - MOST_TASKS)
  }

  #write(task: TaskMessage): void {
    const { pool, taskId, filename, name, attempt, workerId, createdAt, waitMs, runMs, outcome } = task
    const row = this.#nextRow()
    const rows = this.#rows
    const hasRun = workerId !== undefined
    const startedAt = hasRun && waitMs !== undefined ? createdAt + waitMs : Number.NaN
    const endedAt = runMs === undefined || Number.isNaN(startedAt) ? realClock.now() : startedAt + runMs
    rows[row] = pool.id
    rows[row + 1] = taskId
    rows[row + 2] = this.#handlerId(filename, name)
    rows[row + 3] = attempt
    rows[row + 4] = OUTCOMES.indexOf(outcome ?? 'rejected')
    rows[row + 5] = createdAt
    // The start of a task whose worker died is not known.
    rows[row + 6] = hasRun ? startedAt : endedAt
    rows[row + 7] = workerId ?? NO_WORKER
    rows[row + 8] = endedAt
  }

  #nextRow(): number {
    const rowCount = this.#rows.length / COLUMNS
    if (this.#written >= rowCount && rowCount < MOST_TASKS) {
      const grown = new Float64Array(Math.min(rowCount * 2, MOST_TASKS) * COLUMNS)
      grown.set(this.#rows)
      this.#rows = grown
    }
    return (this.#written++ % (this.#rows.length / COLUMNS)) * COLUMNS
  }

  #handlerId(filename: string, name: string): number {
    let names = this.#handlerIds.get(filename)
    if (names === undefined) {
      names = new Map()
      this.#handlerIds.set(filename, names)
    }
    let id = names.get(name)
    if (id === undefined) {
      id = this.#handlers.push({ filename, name }) - 1
      names.set(name, id)
    }
    return id
  }

  /**
   * The tasks that ended after `from`, in the order of their creation. Open tasks end now.
   * @param heldBy for an open task, the worker that holds it; `null`: it is queued
   */
  slices(from: number, now: number, heldBy: (task: TaskMessage) => HeldTask | null): TaskSlice[] {
    const slices: TaskSlice[] = []
    const lastEnds = new LastEnds()
    const rowCount = this.#rows.length / COLUMNS
    for (let i = Math.max(0, this.#written - rowCount); i < this.#written; i++) {
      const slice = this.#read((i % rowCount) * COLUMNS, lastEnds)
      const { poolId, run } = slice
      if (run !== null) lastEnds.note(poolId, run.workerId, run.end)
      if ((run?.end ?? slice.waitEnd) >= from) slices.push(slice)
    }
    for (const task of this.#open) slices.push(openSlice(task, now, heldBy(task), lastEnds))
    return slices.sort((a, b) => a.createdAt - b.createdAt)
  }

  #read(row: number, lastEnds: LastEnds): TaskSlice {
    const at = (column: number) => this.#rows[row + column]!
    const poolId = at(0)
    const createdAt = at(5)
    const workerId = at(7)
    const end = Math.max(createdAt, at(8))
    const start = Number.isNaN(at(6)) ? lastEnds.of(poolId, workerId) : at(6)
    const waitEnd = Math.max(createdAt, Math.min(start, end))
    return {
      poolId,
      taskId: at(1),
      ...this.#handlers[at(2)]!,
      attempt: at(3),
      outcome: OUTCOMES[at(4)]!,
      createdAt,
      waitEnd,
      run: workerId === NO_WORKER ? null : { workerId, end },
    }
  }
}

/** A worker, as a key of maps. */
export function workerKey(poolId: number, workerId: number): string {
  return `${poolId} ${workerId}`
}

/** When the last task of each worker ended. A task whose start is not known started after that. */
class LastEnds {
  readonly #ends = new Map<string, number>()

  note(poolId: number, workerId: number, end: number): void {
    const key = workerKey(poolId, workerId)
    this.#ends.set(key, Math.max(end, this.#ends.get(key) ?? 0))
  }

  of(poolId: number, workerId: number): number {
    return this.#ends.get(workerKey(poolId, workerId)) ?? 0
  }
}

function openSlice(task: TaskMessage, now: number, held: HeldTask | null, lastEnds: LastEnds): TaskSlice {
  const { pool, taskId, filename, name, attempt, createdAt } = task
  const start = held === null ? now : (held.startedAt ?? lastEnds.of(pool.id, held.workerId))
  return {
    poolId: pool.id,
    taskId,
    filename,
    name,
    attempt,
    outcome: 'open',
    createdAt,
    waitEnd: Math.max(createdAt, Math.min(start, now)),
    run: held === null ? null : { workerId: held.workerId, end: now },
  }
}
