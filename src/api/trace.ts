// The results of `pool.trace()` and `pool.profile()`, and their options.

export interface TraceOptions {
  /** How long to record. Default: 5. `Infinity` needs a `signal`. The trace then holds the last 30 seconds. */
  seconds?: number
  /** Also records the CPU profile of the host and of each worker. Default: true. */
  cpu?: boolean
  /** Ends the recording early. The call resolves with the trace so far. */
  signal?: AbortSignal | null
}

export interface ProfileOptions {
  /** How long to record, at most 600. Default: 5. */
  seconds?: number
  /** Ends the recording early. The call resolves with the profile so far. */
  signal?: AbortSignal | null
}

/** A recording of tasks and threads. */
export interface Trace {
  /** Writes the trace to a file in small pieces. Chrome DevTools, Perfetto and Firefox Profiler open it. */
  save(path: string | URL): Promise<void>
  /** The trace as an object, for `JSON.stringify()`. */
  toJSON(): TraceDocument
}

/** A file of the Trace Event Format. */
export interface TraceDocument {
  traceEvents: TraceEvent[]
  metadata: TraceMetadata
}

/** One event of the Trace Event Format. Times are microseconds. */
export interface TraceEvent {
  name: string
  /** The kind of the event, such as `X` for a slice. */
  ph: string
  cat: string
  pid: number
  tid: number
  ts: number
  dur?: number
  args?: Record<string, unknown>
  /** Other fields of the format, such as `id2` and `bind_id`. */
  [field: string]: unknown
}

export interface TraceMetadata {
  source: string
  dataOrigin: string
  /** What lido says about the recording. */
  lido: {
    /** The version of Node. */
    node: string
    /** Milliseconds since the epoch, and the same moment in microseconds of the events. */
    startedAt: number
    startedAtUs: number
    durationMs: number
    /** How many tasks the trace holds, and how many older ones it dropped. */
    tasks: number
    droppedTasks: number
    /** Sentences that say what is missing, such as the profile of a worker that did not answer. */
    notes: string[]
  }
}

/**
 * A CPU profile of a pool in the format of `.cpuprofile` files. Below its root: `host`, one node for each handler, and `worker idle`. Its
 * time axis is the sum of all threads.
 */
export interface CpuProfile {
  nodes: CpuProfileNode[]
  /** Microseconds. */
  startTime: number
  endTime: number
  /** The `id` of the node that ran at each sample. */
  samples: number[]
  /** Microseconds between each sample and the one before. */
  timeDeltas: number[]
  /** Writes a `.cpuprofile` file. */
  save(path: string | URL): Promise<void>
}

export interface CpuProfileNode {
  id: number
  callFrame: { functionName: string; scriptId: string; url: string; lineNumber: number; columnNumber: number }
  hitCount: number
  children: number[]
}
