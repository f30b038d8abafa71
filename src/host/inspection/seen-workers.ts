// The workers of one pool during a recording. A worker that starts during the recording is profiled, too.
import type { TaskMessage } from '../../api/channels.js'
import type { Clock } from '../../shared/platform/clock.js'
import type { ProbedWorker, WorkerProbe } from '../workers/worker-probe.js'
import {
  InspectorSource,
  ProcessSource,
  type ProfileSource,
  profiledThread,
  ThreadSource,
} from './profile-source.js'
import { joinPieces, type ProfileTrack } from './profile-track.js'
import type { RecordedPool, RecordedWorker } from './recording.js'
import type { HeldTask } from './task-log.js'
import type { ThreadInspector } from './thread-inspector.js'

/** A pool, as far as a recorder uses it. The engine of a pool is one. */
export interface TracedPool {
  readonly identity: RecordedPool
  /** Calls the probe back for each worker that is alive, and for later ones. Returns the function that ends it. */
  watchWorkers(probe: WorkerProbe): () => void
}

/** What makes the profiles of a recording. */
export interface Profiling {
  readonly clock: Pick<Clock, 'now'>
  readonly keepMs: number
  /** `null`: the recording has no profiles. */
  trackOf: ((source: ProfileSource) => ProfileTrack) | null
  /** Throws when Node has no inspector. */
  inspector(): ThreadInspector
}

interface Seen {
  readonly worker: ProbedWorker
  readonly about: Omit<RecordedWorker, 'profile'>
  readonly source: ProfileSource | null
  readonly track: ProfileTrack | null
  endedAt: number | null
}

export class SeenWorkers implements WorkerProbe {
  readonly pool: RecordedPool
  readonly #profiling: Profiling
  readonly #seen = new Map<ProbedWorker, Seen>()
  readonly #unwatch: () => void

  constructor(pool: TracedPool, profiling: Profiling) {
    this.pool = pool.identity
    this.#profiling = profiling
    this.#unwatch = pool.watchWorkers(this)
  }

  /** Resolves when the profiles of the present workers have started. */
  async started(): Promise<void> {
    await Promise.all([...this.#seen.values()].map(({ track }) => track?.started))
  }

  /** Call it once a second. */
  onTime(): void {
    const { clock, keepMs } = this.#profiling
    const from = clock.now() - keepMs
    for (const [worker, { track, endedAt }] of this.#seen) {
      track?.onTime()
      if (endedAt !== null && endedAt < from) this.#seen.delete(worker)
    }
  }

  /** Resolves when all threads have sent their profiles, or do not answer. */
  async end(): Promise<void> {
    await Promise.all([...this.#seen.values()].map(({ track }) => track?.end()))
    this.#unwatch()
  }

  recorded(): RecordedWorker[] {
    return [...this.#seen.values()].map(({ about, track }) => ({
      ...about,
      profile: track === null ? null : joinPieces(track.pieces),
    }))
  }

  notes(): string[] {
    const { label } = this.pool
    return [...this.#seen.values()].flatMap(({ about: { workerId }, track }) =>
      track === null || track.problem === null
        ? []
        : [`Worker ${workerId} of pool '${label}' ${track.problem}.`],
    )
  }

  /** Open tasks that workers hold, by the number of the task. */
  heldTasks(): Map<number, HeldTask> {
    const held = new Map<number, HeldTask>()
    for (const { worker, about, endedAt } of this.#seen.values()) {
      if (endedAt !== null) continue
      const { view } = worker
      for (const task of view.tasks)
        held.set(task.id, { workerId: about.workerId, startedAt: view.startOf(task) })
    }
    return held
  }

  // The events of the workers.

  onStarted(worker: ProbedWorker): void {
    const { id, slots, backend, threadId, pid } = worker.view
    const places = { thread: `thread ${threadId}`, process: `process ${pid}`, inline: 'inline' }
    const about = {
      poolId: this.pool.id,
      workerId: id,
      slots,
      place: places[backend],
      isInline: backend === 'inline',
    }
    const { trackOf } = this.#profiling
    let source: ProfileSource | null = null
    if (trackOf !== null) source = this.#sourceOf(worker)
    const track = source === null ? null : trackOf!(source)
    this.#seen.set(worker, { worker, about, source, track, endedAt: null })
  }

  #sourceOf(worker: ProbedWorker): ProfileSource | null {
    const { thread, backend, threadId } = worker.view
    // The profile of the host holds the samples of an inline worker.
    if (backend === 'inline') return null
    if (thread === null) return new ProcessSource(worker)
    const profiled = profiledThread(thread)
    if (profiled !== null) return new ThreadSource(profiled)
    return new InspectorSource(() => this.#profiling.inspector(), threadId)
  }

  beforeStop(worker: ProbedWorker): Promise<void> | undefined {
    return this.#seen.get(worker)?.track?.end()
  }

  onEnded(worker: ProbedWorker): void {
    const seen = this.#seen.get(worker)
    if (seen === undefined) return
    seen.endedAt = this.#profiling.clock.now()
    seen.track?.onExit()
  }

  onProfile(worker: ProbedWorker, profile: string | null): void {
    const source = this.#seen.get(worker)?.source
    if (source instanceof ProcessSource) source.receive(profile)
  }
}

/** Finds the worker that holds an open task. */
export function holders(pools: readonly SeenWorkers[]): (task: TaskMessage) => HeldTask | null {
  const byPool = new Map(pools.map(pool => [pool.pool.id, pool.heldTasks()]))
  return ({ pool, taskId }) => byPool.get(pool.id)?.get(taskId) ?? null
}
