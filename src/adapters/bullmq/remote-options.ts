// The options of `RemotePool` and of its calls.

import type { ErrorClass } from '../../api/pool-options.js'
import {
  type CommonMapOptions,
  type CommonRunOptions,
  InvalidOptionError,
  InvalidTaskError,
  type MapOptions,
} from '../../index.js'
import {
  group,
  integer,
  mapTable,
  mayHoldOptions,
  milliseconds,
  OptionErrors,
  OptionTable,
  problemWithClass,
  type Resolved,
  type RulesFor,
  runTable,
  text,
  value,
} from '../../kit.js'
import { type EngineOptions, engineRules } from './engine.js'
import { DEFAULT_MAX_VALUE_BYTES, MOST_ITEMS } from './job-values.js'

/** The options of `new RemotePool(queueName, options)`. */
export interface RemotePoolOptions extends EngineOptions {
  /** The name of the export that is the handler. Default `'default'`. */
  name?: string | undefined
  /** Most unfinished jobs of this object. Beyond it `run()` rejects with `QueueFullError`. Default `Infinity`. */
  maxQueue?: number | undefined
  /** Largest payload, and largest encoded result, in bytes of JSON. Hosts have the same option. Default 1,000,000. */
  maxValueBytes?: number | undefined
  /** How long the queue keeps results: `age` in seconds (default 3,600), and at most `count` jobs (default 10,000). */
  keepResults?: { age?: number | undefined; count?: number | undefined } | undefined
  /** Your error classes. Errors of these classes keep their class. Default `[]`. */
  errorClasses?: readonly ErrorClass[] | undefined
  /** Runs of a job in all, when its handler throws or its worker dies. Default 1. */
  attempts?: number | undefined
  /** Milliseconds that a job may run, from its start in a worker. Default `Infinity`. */
  timeout?: number | undefined
}

interface JobOptions {
  /** Runs of the job in all, when its handler throws or its worker dies. Default: the pool's. */
  attempts?: number | undefined
  /** Milliseconds until the job may start. Default 0. */
  delay?: number | undefined
  /** The id of the job. If the queue has a job with this id, no job is added, and the call gets the result of that job. */
  jobId?: string | undefined
}

/**
 * The options of `RemotePool.run()`. `priority` is an integer from -1,000,000 to 1,000,000; jobs with a higher one start first.
 * `queueTimeout` counts on this machine. A host also checks `deadline`, so the clocks of callers and hosts must agree.
 */
export interface RemoteRunOptions extends CommonRunOptions, JobOptions {}

/** The options of calls by `RemotePool.with()`. */
export type RemoteCallOptions = Omit<RemoteRunOptions, 'name' | 'jobId'>

/** The options of `RemotePool.enqueue()`. */
export type EnqueueOptions = Omit<RemoteRunOptions, 'signal' | 'queueTimeout' | 'onProgress'>

/** The options of `RemotePool.map()`. */
export interface RemoteMapOptions<Item = unknown, Replacement = unknown>
  extends CommonMapOptions<Item, Replacement>,
    Pick<MapOptions<Item, Replacement>, 'onItemProgress'>,
    Omit<JobOptions, 'jobId'> {
  /** How many items one job has. `'auto'`: as many as take about 100 ms, measured; it begins with 1. Default `'auto'`. */
  itemsPerJob?: number | 'auto' | undefined
}

const MOST_PRIORITY = 1_000_000
const MOST_ATTEMPTS = 100

const keepTable = new OptionTable({
  age: integer({ min: 1 }, { default: 3600 }),
  count: integer({ min: 1 }, { default: 10_000 }),
} satisfies RulesFor<NonNullable<RemotePoolOptions['keepResults']>>)

export const remotePoolTable = new OptionTable({
  ...engineRules,
  name: text({ default: 'default' }),
  maxQueue: integer({ min: 1, orInfinity: true }, { default: Number.POSITIVE_INFINITY }),
  maxValueBytes: integer({ min: 1 }, { default: DEFAULT_MAX_VALUE_BYTES }),
  keepResults: group(keepTable, 'age: 3600', {
    default: undefined,
  }),
  errorClasses: value<readonly ErrorClass[]>(
    given => Array.isArray(given) && given.every(member => problemWithClass(member) === null),
    'an array of classes that extend Error',
    {
      default: [],
    },
  ),
  attempts: integer({ min: 1, max: MOST_ATTEMPTS }, { default: 1 }),
  timeout: milliseconds(false, {
    default: Number.POSITIVE_INFINITY,
  }),
} satisfies RulesFor<RemotePoolOptions>)

const { name, signal, timeout, queueTimeout, deadline, onProgress } = runTable.rules
const jobRules = {
  timeout,
  deadline,
  priority: integer({ min: -MOST_PRIORITY, max: MOST_PRIORITY }, { default: 0 }),
  attempts: integer({ min: 1, max: MOST_ATTEMPTS }, { default: undefined }),
  delay: integer({ min: 0 }, { default: 0 }),
}
const jobIdRule = value<string | undefined>(
  given => typeof given === 'string' && given !== '' && !/^\d+$/.test(given) && !given.includes(':'),
  "a string that is not empty, has no colon, and is no integer, such as 'user-42'",
  { default: undefined },
)

const remoteRunTable = new OptionTable({
  ...jobRules,
  name,
  signal,
  queueTimeout,
  onProgress,
  jobId: jobIdRule,
} satisfies RulesFor<RemoteRunOptions>)
const remoteWithTable = new OptionTable({
  ...jobRules,
  signal,
  queueTimeout,
  onProgress,
} satisfies RulesFor<RemoteCallOptions>)
const enqueueTable = new OptionTable({
  ...jobRules,
  name,
  jobId: jobIdRule,
} satisfies RulesFor<EnqueueOptions>)

const { concurrency, ordered, onError, onProgress: onMapProgress, onItemProgress } = mapTable.rules
const remoteMapTable = new OptionTable({
  ...jobRules,
  name,
  signal,
  queueTimeout,
  concurrency,
  ordered,
  onError,
  onProgress: onMapProgress,
  onItemProgress,
  itemsPerJob: value<number | 'auto'>(
    given =>
      given === 'auto' ||
      (Number.isSafeInteger(given) && (given as number) >= 1 && (given as number) <= MOST_ITEMS),
    `'auto' or an integer from 1 to ${MOST_ITEMS}`,
    { default: 'auto' },
  ),
} satisfies RulesFor<RemoteMapOptions>)

const elsewhere = {
  abortSignal: "Use 'signal'.",
  transferList:
    'A payload goes to another machine as bytes, so nothing can be transferred. Leave it out; the payload is copied.',
  functions:
    'The handler runs on another machine, which cannot call functions of this program. Put what it needs into the payload.',
  filename: "The pools of the computing hosts choose the file. Use 'name' to choose the export.",
  exclusive:
    'The hosts decide how many jobs a worker runs. Give the pool of a host one task for each worker.',
  queueOptions: "The queue is BullMQ's. Use 'priority' or 'delay'.",
  retry: "Use 'attempts'.",
}

export const constructorErrors = new OptionErrors('a RemotePool', InvalidOptionError)
const runErrors = new OptionErrors('run()', InvalidTaskError, elsewhere)
const withErrors = new OptionErrors('with()', InvalidTaskError, {
  ...elsewhere,
  name: "Call the function by its name, as in 'pool.with(options).api.resize()'.",
  jobId: "Use 'run()', because each call needs an id of its own.",
})
const enqueueErrors = new OptionErrors('enqueue()', InvalidTaskError, {
  ...elsewhere,
  signal: "Nobody waits for the job. Use 'run()', or 'result(id, { signal })'.",
})
const mapErrors = new OptionErrors('map()', InvalidTaskError, {
  ...elsewhere,
  stopOnError: "Use 'onError', which is 'stop', 'skip' or a function.",
})
export const resultErrors = new OptionErrors('result()', InvalidTaskError)

export type RunSettings = Resolved<(typeof remoteRunTable)['rules']>
export type RemoteMapSettings = Resolved<(typeof remoteMapTable)['rules']>

function check(given: unknown, errors: OptionErrors, example: string): object {
  if (given === undefined) return {}
  return mayHoldOptions(given) ? given : errors.noObject(given, example)
}

export function resolvePool(given: unknown): Resolved<(typeof remotePoolTable)['rules']> {
  return remotePoolTable.read(check(given, constructorErrors, "engine: 'postgres'"), constructorErrors)
}

export function resolveRun(given: unknown): RunSettings {
  return remoteRunTable.read(check(given, runErrors, 'signal'), runErrors)
}

export function resolveWith(given: unknown): RunSettings {
  const options = remoteWithTable.read(check(given, withErrors, 'signal'), withErrors)
  return { ...options, name: undefined, jobId: undefined }
}

export function resolveEnqueue(given: unknown): RunSettings {
  const options = enqueueTable.read(check(given, enqueueErrors, 'jobId'), enqueueErrors)
  return { ...options, signal: undefined, queueTimeout: undefined, onProgress: undefined }
}

export function resolveMap(given: unknown): RemoteMapSettings {
  const options = remoteMapTable.read(check(given, mapErrors, 'concurrency: 16'), mapErrors)
  if (options.onItemProgress === undefined) return options
  if (typeof options.itemsPerJob === 'number' && options.itemsPerJob > 1) {
    mapErrors.contradiction(
      'onItemProgress',
      "The option 'onItemProgress' of map() needs jobs of one item, because progress belongs to a job. Set itemsPerJob to 1, or leave one of the two out.",
    )
  }
  return { ...options, itemsPerJob: 1 }
}

const jobSignalTable = new OptionTable({ signal })

export function resolveResult(given: unknown): AbortSignal | null {
  return jobSignalTable.read(check(given, resultErrors, 'signal'), resultErrors).signal ?? null
}
