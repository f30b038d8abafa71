// Writes a recording as events of the Trace Event Format, so that each of these viewers shows it:
// - Chrome DevTools: the threads with their profiles, and a group of tracks for each pool, made of events as of `performance.measure()`.
// - Perfetto and Firefox Profiler: the threads, with a slice for each task.
import type { TraceEvent, TraceMetadata } from '../../api/trace.js'
import { basename } from '../../shared/platform/node-modules.js'
import type { JoinedProfile } from './profile-track.js'
import { microseconds, type RecordedPool, type RecordedWorker, type Recording } from './recording.js'
import { type TaskSlice, workerKey } from './task-log.js'

const HOST_TID = 1
/**
 * Chrome DevTools needs a time for its own tracks that grows with the square of the slices. Of a longer recording, they show the last
 * slices. The threads always show all.
 */
const MOST_IN_DEVTOOLS_TRACKS = 5_000
const SAMPLES_PER_CHUNK = 1000
const CLOCK_ERROR_MS = 5

const METADATA = '__metadata'
const TIMELINE = 'disabled-by-default-devtools.timeline'
const CPU_PROFILER = 'disabled-by-default-v8.cpu_profiler'
const USER_TIMING = 'blink.user_timing'
const LIDO = 'lido'

export function metadataOf({
  startedAt,
  endedAt,
  endedAtEpoch,
  slices,
  droppedTasks,
  notes,
  ...recording
}: Recording): TraceMetadata {
  return {
    source: 'DevTools',
    dataOrigin: 'TraceEvents',
    lido: {
      node: process.version,
      startedAt: endedAtEpoch - (endedAt - startedAt),
      startedAtUs: microseconds(recording, startedAt),
      durationMs: endedAt - startedAt,
      tasks: slices.length,
      droppedTasks,
      notes: [...notes],
    },
  }
}

/** Events of one kind are in the order of their times. */
export function* eventsOf(recording: Recording): Generator<TraceEvent, void, undefined> {
  const tracks = new Tracks(recording)
  yield* tracks.headers()
  yield* tracks.profiles()
  yield* tracks.tasks()
}

type EventPart = Omit<TraceEvent, 'pid'>

class Tracks {
  readonly #recording: Recording
  readonly #pools = new Map<number, RecordedPool & { tid: number }>()
  /** The tracks of a worker: its thread, and one more for each slot that runs a task at the same time. */
  readonly #workers = new Map<string, { worker: RecordedWorker; lanes: Lane[] }>()
  /** The lanes of slices, by the index of the slice. */
  readonly #laneOf: (Lane | null)[] = []
  #lastTid = HOST_TID

  constructor(recording: Recording) {
    this.#recording = recording
    for (const worker of recording.workers) {
      const lanes = [{ tid: ++this.#lastTid, last: null }]
      this.#workers.set(workerKey(worker.poolId, worker.workerId), { worker, lanes })
    }
    for (const pool of recording.pools) this.#pools.set(pool.id, { ...pool, tid: ++this.#lastTid })
    this.#placeSlices()
  }

  /** Slices of one track must not overlap. */
  #placeSlices(): void {
    const { slices } = this.#recording
    const byStart = [...slices.keys()].sort((a, b) => slices[a]!.waitEnd - slices[b]!.waitEnd)
    for (const index of byStart) this.#laneOf[index] = this.#laneFor(slices[index]!)
  }

  #laneFor(slice: TaskSlice): Lane | null {
    const { poolId, waitEnd, run } = slice
    if (run === null) return null
    const known = this.#workers.get(workerKey(poolId, run.workerId))
    if (known === undefined) return null
    const { lanes, worker } = known
    const startUs = microseconds(this.#recording, waitEnd)
    if (worker.slots === 1) this.#shorten(lanes[0]!.last, waitEnd)
    let lane = lanes.find(({ last }) => last === null || microseconds(this.#recording, last.end) <= startUs)
    if (lane === undefined) {
      lane = { tid: ++this.#lastTid, last: null }
      lanes.push(lane)
    }
    lane.last = run
    return lane
  }

  /** The clock of a worker is not exact. A task of a worker with one slot ends before the next one starts. */
  #shorten(last: NonNullable<TaskSlice['run']> | null, nextStart: number): void {
    if (last !== null && last.end > nextStart && last.end - nextStart < CLOCK_ERROR_MS) last.end = nextStart
  }

  *headers(): Generator<TraceEvent> {
    const startUs = microseconds(this.#recording, this.#recording.startedAt)
    const url = `file:///${basename(process.argv[1] ?? 'node')}`
    yield this.#event({
      name: 'process_name',
      ph: 'M',
      cat: METADATA,
      tid: 0,
      ts: 0,
      args: { name: 'Renderer' },
    })
    yield* this.#thread(HOST_TID, 'CrRendererMain', 1, startUs)
    const frames = [{ frame: 'lido', url, name: '', processId: process.pid }]
    yield this.#event({
      name: 'TracingStartedInBrowser',
      ph: 'I',
      s: 't',
      cat: TIMELINE,
      tid: HOST_TID,
      ts: startUs,
      args: { data: { frameTreeNodeId: 1, persistentIds: true, frames } },
    })
    let order = 1
    for (const { label, tid } of this.#pools.values())
      yield* this.#thread(tid, `lido: ${label}`, ++order, null)
    for (const { worker, lanes } of this.#workers.values()) {
      const name = `${this.#pools.get(worker.poolId)!.label} worker ${worker.workerId}`
      for (const [slot, { tid }] of lanes.entries()) {
        const suffix = slot === 0 ? ` (${worker.place})` : ` (slot ${slot + 1})`
        yield* this.#thread(tid, name + suffix, ++order, slot === 0 ? startUs : null)
      }
    }
  }

  /** @param startUs a thread with a profile needs an event, or Chrome DevTools does not show it */
  *#thread(tid: number, name: string, order: number, startUs: number | null): Generator<TraceEvent> {
    const rest = { ph: 'M', cat: METADATA, tid, ts: 0 }
    yield this.#event({ ...rest, name: 'thread_name', args: { name } })
    yield this.#event({ ...rest, name: 'thread_sort_index', args: { sort_index: order } })
    if (startUs === null) return
    yield this.#event({ name: 'recording starts', ph: 'I', s: 't', cat: LIDO, tid, ts: startUs })
  }

  *profiles(): Generator<TraceEvent> {
    const { host, workers } = this.#recording
    if (host.profile !== null) yield* this.#profile(HOST_TID, host.profile)
    for (const { poolId, workerId, profile } of workers) {
      const { lanes } = this.#workers.get(workerKey(poolId, workerId))!
      if (profile !== null) yield* this.#profile(lanes[0]!.tid, profile)
    }
  }

  *#profile(
    tid: number,
    { nodes, samples, times, startTime, endTime }: JoinedProfile,
  ): Generator<TraceEvent> {
    const rest = { ph: 'P', cat: CPU_PROFILER, id: `0x${tid.toString(16)}`, tid }
    yield this.#event({ ...rest, name: 'Profile', ts: Math.round(startTime), args: { data: { startTime } } })
    const written = nodes.map(({ id, parent, callFrame }) => ({
      id,
      callFrame: { ...callFrame, codeType: 'JS' },
      ...(parent > 0 && { parent }),
    }))
    for (let from = 0; from < samples.length || from === 0; from += SAMPLES_PER_CHUNK) {
      const to = Math.min(from + SAMPLES_PER_CHUNK, samples.length)
      const timeDeltas = times
        .slice(from, to)
        .map((time, i) => Math.round(time) - Math.round(times[from + i - 1] ?? startTime))
      const cpuProfile = { ...(from === 0 && { nodes: written }), samples: samples.slice(from, to) }
      const ts = Math.round(times[to - 1] ?? startTime)
      yield this.#event({ ...rest, name: 'ProfileChunk', ts, args: { data: { cpuProfile, timeDeltas } } })
    }
    const data = { endTime }
    yield this.#event({ ...rest, name: 'ProfileChunk', ts: Math.round(endTime), args: { data } })
  }

  *tasks(): Generator<TraceEvent> {
    const { slices } = this.#recording
    const firstInDevTools = slices.length - MOST_IN_DEVTOOLS_TRACKS
    for (const [index, slice] of slices.entries()) {
      yield* this.#task(slice, index, index >= firstInDevTools)
    }
  }

  *#task(slice: TaskSlice, index: number, isInDevTools: boolean): Generator<TraceEvent> {
    const { poolId, taskId, createdAt, waitEnd, run, attempt, outcome } = slice
    const pool = this.#pools.get(poolId)
    if (pool === undefined) return
    const name = nameOf(slice)
    const startUs = microseconds(this.#recording, createdAt)
    const waitEndUs = microseconds(this.#recording, waitEnd)
    const about = { taskId, outcome, attempt, waitMs: rounded(waitEnd - createdAt) }
    const group = `lido: ${pool.label}`
    const flow = `0x${(index + 1).toString(16)}`
    const wait = {
      name: `${name} waits`,
      cat: isInDevTools ? USER_TIMING : LIDO,
      tid: pool.tid,
      id2: { local: flow },
    }
    const devtools = { dataType: 'track-entry', track: 'queue', trackGroup: group, color: 'secondary' }
    const detail = isInDevTools ? { detail: JSON.stringify({ devtools, taskId }) } : { taskId }
    yield this.#event({ ...wait, ph: 'b', ts: startUs, bind_id: flow, flow_out: true, args: detail })
    yield this.#event({ ...wait, ph: 'e', ts: waitEndUs })
    const lane = this.#laneOf[index]
    if (run === null || lane === null || lane === undefined) return
    const endUs = microseconds(this.#recording, run.end)
    const args = { ...about, runMs: rounded(run.end - waitEnd) }
    const dur = endUs - waitEndUs
    const inFlow = { bind_id: flow, flow_in: true }
    yield this.#event({ name, ph: 'X', cat: LIDO, tid: lane.tid, ts: waitEndUs, dur, ...inFlow, args })
    if (!isInDevTools) return
    const color = outcome === 'fulfilled' || outcome === 'open' ? 'primary' : 'error'
    const entry = { dataType: 'track-entry', track: `worker ${run.workerId}`, trackGroup: group, color }
    const measure = { name, cat: USER_TIMING, tid: pool.tid, id2: { local: `${flow}r` } }
    const measured = { detail: JSON.stringify({ devtools: entry, ...args }) }
    yield this.#event({ ...measure, ph: 'b', ts: waitEndUs, args: measured })
    yield this.#event({ ...measure, ph: 'e', ts: endUs })
  }

  #event({ name, ph, cat, tid, ts, ...rest }: EventPart): TraceEvent {
    return {
      name: name as string,
      ph: ph as string,
      cat: cat as string,
      pid: process.pid,
      tid: tid as number,
      ts: ts as number,
      ...rest,
    }
  }
}

interface Lane {
  readonly tid: number
  /** The last run in it. */
  last: NonNullable<TaskSlice['run']> | null
}

/** The default export has the name of its file. */
export function nameOf({ name, filename }: Pick<TaskSlice, 'name' | 'filename'>): string {
  return name === 'default' ? `default of ${basename(filename)}` : name
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
