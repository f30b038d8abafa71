// Records pools: their tasks, from the channels, and the CPU profiles of all threads.
import type { TaskMessage } from '../../api/channels.js'
import { type Anchor, realClock, type Timer } from '../../shared/platform/clock.js'
import { within } from '../../shared/platform/within.js'
import { HostSource, type ProfileSource } from './profile-source.js'
import { joinPieces, ProfileTrack } from './profile-track.js'
import { RecordedTrace } from './recorded-trace.js'
import type { Recording } from './recording.js'
import { holders, type Profiling, SeenWorkers, type TracedPool } from './seen-workers.js'
import { TaskLog } from './task-log.js'
import { ThreadInspector } from './thread-inspector.js'

const PIECE_MS = 1000
/** How long the start waits for threads that do not answer, such as starting ones. */
const LONGEST_START_MS = 500

export interface RecorderSettings {
  /** Also records the CPU profiles of all threads. */
  readonly cpu: boolean
  /** The recording is a ring: it keeps this many of the last milliseconds. */
  readonly keepMs: number
  /** False: the process may end while the recorder runs. Default: true. */
  readonly keepsAlive?: boolean
  /** A thread that is killed loses at most so much of its profile. Default: `PIECE_MS`. */
  readonly pieceMs?: number
}

export class TraceRecorder {
  readonly #settings: RecorderSettings
  readonly #given: readonly TracedPool[]
  readonly #pools = new Map<number, SeenWorkers>()
  readonly #tasks = new TaskLog(this.#pools)
  readonly #anchor: Anchor = realClock.anchor()
  readonly #originUs = realClock.origin() * 1000
  readonly #profiling: Profiling
  readonly #hostSource = new HostSource()
  #host: ProfileTrack | null = null
  #inspector: ThreadInspector | null = null
  #timer: Timer | null = null
  #startedAt = 0

  constructor(pools: readonly TracedPool[], settings: RecorderSettings) {
    this.#given = pools
    this.#settings = settings
    const { cpu, keepMs } = settings
    const nowUs = () => this.#originUs + realClock.now() * 1000
    this.#profiling = {
      clock: realClock,
      keepMs,
      trackOf: cpu ? (source: ProfileSource) => new ProfileTrack(source, keepMs, nowUs) : null,
      inspector: () => {
        this.#inspector ??= new ThreadInspector()
        return this.#inspector
      },
    }
  }

  /**
   * Resolves when the profiles of all threads have started. Keeps the process alive until `stop()`.
   * @param startedAt the start of the recording, on the host's clock
   * @param early the tasks that started since
   */
  async start(startedAt = realClock.now(), early: readonly TaskMessage[] = []): Promise<void> {
    if (this.#settings.keepsAlive !== false) this.#anchor.hold()
    this.#startedAt = startedAt
    for (const pool of this.#given) this.add(pool)
    this.#tasks.start(early)
    this.#host = this.#profiling.trackOf?.(this.#hostSource) ?? null
    const started = [this.#host?.started, ...[...this.#pools.values()].map(pool => pool.started())]
    await within(realClock, LONGEST_START_MS, Promise.all(started), () => {})
    if (this.#host !== null) this.#planPiece()
  }

  /** Also records this pool. Call it for a pool that was created since the start. */
  add(pool: TracedPool): void {
    const { id } = pool.identity
    if (!this.#pools.has(id)) this.#pools.set(id, new SeenWorkers(pool, this.#profiling))
  }

  #planPiece(): void {
    this.#timer = realClock.after(this.#settings.pieceMs ?? PIECE_MS, () => {
      this.#host?.onTime()
      for (const pool of this.#pools.values()) pool.onTime()
      this.#planPiece()
    })
  }

  /** Ends the recording. Threads answer while they compute. A process that computes delays the end by at most a second. */
  async stop(): Promise<RecordedTrace> {
    return new RecordedTrace(await this.end())
  }

  /** As `stop()`, for other forms of the recording. */
  async end(): Promise<Recording> {
    const pools = [...this.#pools.values()]
    this.#timer?.cancel()
    this.#tasks.stop()
    const tasks = this.#recordedTasks()
    await Promise.all([this.#host?.end(), ...pools.map(pool => pool.end())])
    this.#inspector?.end()
    this.#anchor.drop()
    return this.#recording(tasks)
  }

  /**
   * The trace so far, for a process that is about to end. Waits for no thread, so the last piece of each worker's profile is missing. The
   * recording goes on.
   */
  snapshot(): RecordedTrace {
    this.#host?.takeNow(() => this.#hostSource.nextNow())
    return new RecordedTrace(this.#recording(this.#recordedTasks()))
  }

  #recordedTasks(): Pick<Recording, 'slices' | 'startedAt' | 'endedAt'> {
    const endedAt = realClock.now()
    const startedAt = Math.max(this.#startedAt, endedAt - this.#settings.keepMs)
    const slices = this.#tasks.slices(startedAt, endedAt, holders([...this.#pools.values()]))
    return { slices, startedAt, endedAt }
  }

  #recording(tasks: Pick<Recording, 'slices' | 'startedAt' | 'endedAt'>): Recording {
    const host = this.#host
    const pools = [...this.#pools.values()]
    return {
      ...tasks,
      host: { profile: host === null ? null : joinPieces(host.pieces) },
      workers: pools.flatMap(pool => pool.recorded()),
      pools: pools.map(({ pool }) => pool),
      endedAtEpoch: realClock.epochNow(),
      originUs: this.#originUs,
      droppedTasks: this.#tasks.dropped,
      notes: [
        ...(host === null || host.problem === null ? [] : [`The host ${host.problem}.`]),
        ...pools.flatMap(pool => pool.notes()),
      ],
    }
  }
}
