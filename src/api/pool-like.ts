// What a pool on this machine and a pool on many machines have in common.

import type {
  CloseOptions,
  CloseReport,
  MapOptions,
  MapSource,
  RoomOptions,
  RunOptions,
} from './call-options.js'
import type {
  AcceptedPayload,
  CheckedName,
  Chosen,
  DefaultName,
  HandlerName,
  PoolApi,
  ResultOf,
  RunArguments,
} from './handler-types.js'
import type { PoolMap } from './results.js'
import type { PoolState, TaskCounts } from './stats.js'

/** The options of `run()` that every pool accepts. */
export type CommonRunOptions = Pick<
  RunOptions,
  'name' | 'signal' | 'timeout' | 'queueTimeout' | 'deadline' | 'priority' | 'onProgress'
>

/** The options of `map()` that every pool accepts. */
export type CommonMapOptions<Item = unknown, Replacement = unknown> = Pick<
  MapOptions<Item, Replacement>,
  | 'name'
  | 'signal'
  | 'timeout'
  | 'queueTimeout'
  | 'deadline'
  | 'priority'
  | 'concurrency'
  | 'ordered'
  | 'onError'
  | 'onProgress'
>

/** The part of a snapshot that every pool has. */
export interface CommonStats {
  /** The label of the pool, or the name of its queue. */
  label: string
  /** Whether the pool accepts tasks. */
  state: PoolState
  /** Milliseconds since the pool was created. */
  durationMs: number
  /** Counts of tasks. `waiting`: not started. `inFlight`: started. */
  tasks: TaskCounts & { waiting: number; inFlight: number }
  /** The queue of the pool. `limit`: `maxQueue`. */
  queue: { size: number; limit: number; needsDrain: boolean }
}

/** The methods that `Pool` and `RemotePool` share. A program that uses only these can exchange one for the other. */
export interface PoolLike<Module = any, Default extends HandlerName<Module> = DefaultName<Module>> {
  /** Runs the handler with the payload. See `Pool.run()`. */
  run<Name extends string | undefined = Default>(
    ...args: RunArguments<Module, Name, Default, CommonRunOptions>
  ): Promise<ResultOf<Module, Chosen<Name, Default>>>
  /** The functions of the module. See `Pool.api`. */
  readonly api: PoolApi<Module>
  /** The same functions with options. See `Pool.with()`. */
  with(options: Omit<CommonRunOptions, 'name'>): { readonly api: PoolApi<Module> }
  /** Runs the handler for each item. See `Pool.map()`. */
  map<Name extends string | undefined = Default, Replacement = never>(
    source: MapSource<AcceptedPayload<Module, Name, Default>>,
    options?: CommonMapOptions<AcceptedPayload<Module, Name, Default>, Replacement> & {
      name?: CheckedName<Module, Name>
    },
  ): PoolMap<ResultOf<Module, Chosen<Name, Default>> | Awaited<Replacement>>
  /** Resolves when the next call will find a free place. See `Pool.room()`. */
  room(options?: RoomOptions): Promise<void>
  /** A snapshot of the figures. See `Pool.stats()`. */
  stats(): CommonStats
  /** Waits for the accepted tasks and ends. See `Pool.close()`. */
  close(options?: CloseOptions): Promise<CloseReport>
  /** Rejects all tasks and ends. See `Pool.destroy()`. */
  destroy(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
