// The results of `pool.trace()` and `pool.profile()`, and their options.

/** The options of `pool.trace()`. */
export interface TraceOptions {
  /**
   * How long to record. Default: 5. `Infinity` needs a `signal`. The trace then holds the last 30 seconds.
   * @see [Traces and profiles](https://OWNER.github.io/lido/reference/trace.html)
   */
  seconds?: number
  /**
   * Also records the CPU profile of the host and of each worker. Default: true.
   * @see [Traces and profiles](https://OWNER.github.io/lido/reference/trace.html)
   */
  cpu?: boolean
  /**
   * Ends the recording early. The call resolves with the trace so far.
   * @see [Traces and profiles](https://OWNER.github.io/lido/reference/trace.html)
   */
  signal?: AbortSignal | null
}

/** The options of `pool.profile()`. */
export interface ProfileOptions {
  /**
   * How long to record, at most 600. Default: 5.
   * @see [Traces and profiles](https://OWNER.github.io/lido/reference/trace.html)
   */
  seconds?: number
  /**
   * Ends the recording early. The call resolves with the profile so far.
   * @see [Traces and profiles](https://OWNER.github.io/lido/reference/trace.html)
   */
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
  /** The events of all tracks. */
  traceEvents: TraceEvent[]
  /** What the recording is. */
  metadata: TraceMetadata
}

/** One event of the Trace Event Format. Times are microseconds. */
export interface TraceEvent {
  /** The name that viewers show. */
  name: string
  /** The kind of the event, such as `X` for a slice. */
  ph: string
  /** The category, by which viewers filter. */
  cat: string
  /** The id of the process. */
  pid: number
  /** The number of the track in the process. */
  tid: number
  /** The time of the event. */
  ts: number
  /** How long the event took. */
  dur?: number
  /** Fields that viewers show for the event. */
  args?: Record<string, unknown>
  /** Other fields of the format, such as `id2` and `bind_id`. */
  [field: string]: unknown
}

/** What a trace file says about itself. */
export interface TraceMetadata {
  /** The name of the program that wrote the file. */
  source: string
  /** The kind of the file, for Chrome DevTools. */
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
  /** The tree of calls. The first node is the root. */
  nodes: CpuProfileNode[]
  /** Microseconds. */
  startTime: number
  /** Microseconds. */
  endTime: number
  /** The `id` of the node that ran at each sample. */
  samples: number[]
  /** Microseconds between each sample and the one before. */
  timeDeltas: number[]
  /** Writes a `.cpuprofile` file. */
  save(path: string | URL): Promise<void>
}

/** A function in a CPU profile, under its caller. */
export interface CpuProfileNode {
  /** The number of the node. */
  id: number
  /** The function and its place in the source. */
  callFrame: { functionName: string; scriptId: string; url: string; lineNumber: number; columnNumber: number }
  /** In how many samples the function itself ran. */
  hitCount: number
  /** The ids of the functions that this one called. */
  children: number[]
}
