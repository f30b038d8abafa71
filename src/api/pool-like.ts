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
  Chosen,
  DefaultName,
  HandlerName,
  PayloadOf,
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
  label: string
  state: PoolState
  /** Milliseconds since the pool was created. */
  durationMs: number
  tasks: TaskCounts & { waiting: number; inFlight: number }
  queue: { size: number; limit: number; needsDrain: boolean }
}

/** The methods that `Pool` and `RemotePool` share. A program that uses only these can exchange one for the other. */
export interface PoolLike<Module = any, Default extends HandlerName<Module> = DefaultName<Module>> {
  run<Name extends HandlerName<Module> | undefined = Default>(
    ...args: RunArguments<Module, Name, Default, CommonRunOptions>
  ): Promise<ResultOf<Module, Chosen<Name, Default>>>
  readonly api: PoolApi<Module>
  with(options: Omit<CommonRunOptions, 'name'>): { readonly api: PoolApi<Module> }
  map<Name extends HandlerName<Module> | undefined = Default, Replacement = never>(
    source: MapSource<PayloadOf<Module, Chosen<Name, Default>>>,
    options?: CommonMapOptions<PayloadOf<Module, Chosen<Name, Default>>, Replacement> & { name?: Name },
  ): PoolMap<ResultOf<Module, Chosen<Name, Default>> | Awaited<Replacement>>
  room(options?: RoomOptions): Promise<void>
  stats(): CommonStats
  close(options?: CloseOptions): Promise<CloseReport>
  destroy(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
