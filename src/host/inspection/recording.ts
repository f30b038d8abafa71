// What a recording holds when it has ended: plain data for the trace file and for the profile of the pool.

import type { JoinedProfile } from './profile-track.js'
import type { TaskSlice } from './task-log.js'

export interface Recording {
  readonly host: RecordedThread
  /** Workers that lived during the recording, in the order in which they appeared. */
  readonly workers: readonly RecordedWorker[]
  readonly pools: readonly RecordedPool[]
  /** In the order of their creation. */
  readonly slices: readonly TaskSlice[]
  /** Milliseconds on the host's clock. */
  readonly startedAt: number
  readonly endedAt: number
  /** The end of the recording in milliseconds since the epoch. */
  readonly endedAtEpoch: number
  /** The start of the host's clock in microseconds, on the clock of the profiles. */
  readonly originUs: number
  readonly droppedTasks: number
  readonly notes: readonly string[]
}

export interface RecordedPool {
  readonly id: number
  readonly label: string
}

export interface RecordedThread {
  /** `null`: it was not profiled. */
  readonly profile: JoinedProfile | null
}

export interface RecordedWorker extends RecordedThread {
  readonly poolId: number
  readonly workerId: number
  readonly slots: number
  /** For readers: `thread 7`, `process 4711` or `inline`. */
  readonly place: string
  /** Its tasks run on the host's thread, so the profile of the host holds them. */
  readonly isInline: boolean
}

/** Whole microseconds on the clock of the profiles. */
export function microseconds({ originUs }: Pick<Recording, 'originUs'>, ms: number): number {
  return Math.round(originUs + ms * 1000)
}
