/**
 * For adapters: what they may use beside `lido`. An adapter gives the workers of lido another interface, or gives the interface of lido
 * to something else.
 * @module
 * @see [lido/kit](https://OWNER.github.io/lido/reference/kit.html)
 */

import type { PoolFigures, QuestionListener } from './api/figures.js'
import type { AdaptStart } from './api/pool-options.js'
// Only types: the code is in `index.js`.
import type * as mapRun from './host/calls/map-run.js'
import type * as foreignQueue from './host/kit/foreign-queue.js'
import type * as problems from './host/kit/problems.js'
import type * as rejection from './host/task/rejection.js'
import type * as roomWaiters from './host/task/room-waiters.js'
import { kitParts, type Pool, type PoolOptions, type RunOptions } from './index.js'

/**
 * As `new Pool(options)`. Throws `InvalidOptionError` and `WorkerStartError`.
 * @param adaptStart called before each worker starts; returns the options for its start
 */
export const createPool: (options: PoolOptions, adaptStart?: AdaptStart) => Pool = kitParts.createPool

/**
 * As `pool.run()`. The worker calls the function that the wrapper makes of the handler. Rejects as `run()` does.
 * @param wrapper the file of a module that exports `wrap(handler)`: an absolute path, a `file:` string or a URL
 */
export const runWrapped: <Result = unknown>(
  pool: Pool<any, any>,
  payload: unknown,
  options: RunOptions | undefined,
  wrapper: string | URL,
) => Promise<Result> = kitParts.runWrapped as never

/** Makes a `TaskQueue` of a queue with another interface. */
export const adaptQueue: typeof foreignQueue.adaptQueue = kitParts.adaptQueue

/** Shows each task as one object of another interface. */
export const TaskViews: typeof foreignQueue.TaskViews = kitParts.TaskViews
export type TaskViews<View extends object> = foreignQueue.TaskViews<View>

/** The object that `pool.map()` returns, over a runner of the adapter. */
export const MapRun: typeof mapRun.MapRun = kitParts.MapRun
export type MapRun<Result, Task> = mapRun.MapRun<Result, Task>

/** The answer of a failed item, for `MapRun`. */
export const Rejection: typeof rejection.Rejection = kitParts.Rejection
export type Rejection = rejection.Rejection

/** Emits an event, or warns where the program does not listen: once, or at most once in a time. */
export const Problems: typeof problems.Problems = kitParts.Problems
export type Problems = problems.Problems

/** The pools of this thread that are not closed, in the order of creation. */
export const listPools: () => Pool[] = kitParts.listPools

/** The figures of a pool that `stats()` sums up. */
export const figuresOf: (pool: Pool) => PoolFigures = kitParts.figuresOf

/**
 * Calls the default export of a file in each worker, without a task. The worker answers when its event loop turns, and once more before it
 * ends as planned.
 * @param file the URL of a module
 * @param listenerOf called for each worker; `null`: the worker is not asked
 */
export const askWorkers: (
  pool: Pool,
  file: URL,
  listenerOf: (workerId: number) => QuestionListener | null,
) => void = kitParts.askWorkers

/** The callers of `room()` that wait, in order, each with its signal. */
export const RoomWaiters: typeof roomWaiters.RoomWaiters = kitParts.RoomWaiters
export type RoomWaiters = roomWaiters.RoomWaiters

/**
 * The absolute path of the file that a function such as `() => import('./work.js')` imports. Does not call the function.
 * @param base the file from whose folder a relative path starts
 * @returns the path, or the problem as a text that continues "The option 'module' …"
 */
export const importedFile: (
  thunk: () => Promise<object>,
  base: string | URL | undefined,
) => string | { problem: string } = kitParts.importedFile

/** Cuts a text from outside, such as the name of a job, for a message. */
export const shorten: (text: string, most?: number) => string = kitParts.shorten

/** Makes the object of `pool.api`: a method for each name that the program uses. */
export const createApi = kitParts.createApi

/** The rules for the options of `run()`. */
export const runTable = kitParts.runTable

/** The rules for the options of `map()`. */
export const mapTable = kitParts.mapTable

/** Throws `InvalidTaskError` for an input that `map()` cannot iterate over. */
export const checkSource = kitParts.checkSource

/** Checks the options of `close()`. Throws `InvalidTaskError`. */
export const resolveClose = kitParts.resolveClose

/** Checks the options of `room()`. Throws `InvalidTaskError`. */
export const resolveRoom = kitParts.resolveRoom

/** The URL of a file beside an adapter, which workers load. */
export const adapterFile = kitParts.adapterFile

/** Loads packages as the program of the user finds them. */
export const packagesFrom = kitParts.packagesFrom

export type { PoolFigures, QuestionListener, RecordedDurations } from './api/figures.js'
export type { AdaptStart } from './api/pool-options.js'
export type { MapSettings } from './host/calls/map-options.js'
export type { MapRunner, SubmittedItem } from './host/calls/map-run.js'
export type { ForeignQueue } from './host/kit/foreign-queue.js'

// In the built package, `kitParts` gives the values that follow, too. See `scripts/build.js`.
// The carried stores of a caller, for calls that reach their pool later or on another machine.
export { type Carrier, captureCarried, foreignValues, runCarried } from './shared/context/carried.js'
export { markPoolError } from './shared/errors/pool-errors.js'
// Values and errors that cross to another process or machine.
export {
  deserializeError,
  ErrorClasses,
  problemWithClass,
  type SerializedError,
  serializeError,
} from './shared/errors/serialize-error.js'
export { UnsendableError } from './shared/errors/uncloneable-path.js'
export { HEAD_BYTES } from './shared/messages/pipe-frames.js'
export { errorForProcess, packMessage } from './shared/messages/process-values.js'
export { unpackMessage } from './shared/messages/unpack-message.js'
// Options.
export {
  boolean,
  group,
  integer,
  isRecord,
  milliseconds,
  oneOf,
  text,
  unchecked,
  value,
} from './shared/options/option-rules.js'
export {
  describe,
  mayHoldOptions,
  OptionErrors,
  type OptionRule,
  OptionTable,
  ownFields,
  type Resolved,
  type RulesFor,
} from './shared/options/option-table.js'
// Time.
export { realClock, type Timer } from './shared/platform/clock.js'
export { within } from './shared/platform/within.js'
