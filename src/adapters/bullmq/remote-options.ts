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
  isRecord,
  mapTable,
  mayHoldOptions,
  milliseconds,
  OptionErrors,
  type OptionRule,
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
  /**
   * The name of the export that is the handler. Default `'default'`.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  name?: string | undefined
  /**
   * Most unfinished jobs of this object. Beyond it `run()` rejects with `QueueFullError`. Default `Infinity`.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  maxQueue?: number | undefined
  /**
   * Largest payload, and largest encoded result, in bytes of JSON. Hosts have the same option. Default 1,000,000.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  maxValueBytes?: number | undefined
  /**
   * How long the queue keeps the results of jobs. When a job of this pool ends, BullMQ removes the finished jobs of the queue that ended
   * more than `age` seconds ago (default 3,600), and the oldest ones beyond `count` (default 10,000). It does so for successful and for
   * failed jobs apart, and whichever program added them. A larger number of another program does not protect its results.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  keepResults?: { age?: number | undefined; count?: number | undefined } | undefined
  /**
   * Your error classes. Errors of these classes keep their class. Default `[]`.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  errorClasses?: readonly ErrorClass[] | undefined
  /**
   * Runs of a job in all, when its handler throws or its worker dies. Default 1.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  attempts?: number | undefined
  /**
   * The pause before a job runs again after a failed attempt. Default: none.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  backoff?: Backoff | undefined
  /**
   * Milliseconds that a job may run, from its start in a worker. Default `Infinity`.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  timeout?: number | undefined
  /**
   * Milliseconds for which a call waits for the first connection while the server starts, restarts or cannot be reached. A call with a
   * `signal`, a `deadline` or a `queueTimeout` waits for as long as these allow. A refusal that does not pass, such as a wrong password,
   * rejects at once. Default 30,000.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  connectTimeout?: number | undefined
}

/**
 * Milliseconds between two attempts of a job. `'fixed'`: always `delay`. `'exponential'`: `delay`, then twice as long each time. `jitter`
 * from 0 to 1 is the part of the pause that is random.
 */
export type Backoff = number | { type: 'fixed' | 'exponential'; delay: number; jitter?: number | undefined }

interface JobOptions {
  /**
   * Runs of the job in all, when its handler throws or its worker dies. Default: the pool's.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  attempts?: number | undefined
  /**
   * The pause before the job runs again after a failed attempt. Default: the pool's.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  backoff?: Backoff | undefined
  /**
   * Milliseconds until the job may start, from the moment when the server has it, by the clock of the server. Default 0.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  delay?: number | undefined
  /**
   * The id of the job. If the queue has a job with this id that waits, runs or has succeeded, no job is added, and the call gets the result
   * of that job. A job that failed before the call is replaced. Any number of calls and programs may use the same id: the job goes on when
   * some of them are cancelled or reach a limit.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  jobId?: string | undefined
}

/**
 * The options of `RemotePool.run()`. `priority` is an integer from -1,000,000 to 1,000,000. A job with a positive one goes to the front of
 * the queue, before all jobs that wait. Positive numbers have no order among each other: the newest job is first. Jobs with a negative one
 * start after all jobs without, a lower one later. A job with a `delay` and a positive priority gets no place at the front.
 * `queueTimeout` counts on this machine. The clock of this machine may be wrong: `deadline` and `delay` reach the hosts by the clock of
 * the server.
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
  /**
   * How many items one job has. `'auto'`: as many as take about 100 ms, measured; it begins with 1. Default `'auto'`.
   * @see [RemotePool](https://OWNER.github.io/lido/reference/bullmq.html#remotepool)
   */
  itemsPerJob?: number | 'auto' | undefined
}

const MOST_PRIORITY = 1_000_000
const MOST_ATTEMPTS = 100

const NO_KEYS =
  'Any host takes the next job, so the queue keeps no order for a key, and no worker for it. Wait for each job of the key before you submit the next one, or use a Pool on one machine.'
const NO_GROUPS =
  'BullMQ shares the hosts among groups only in its edition Pro. Use a queue for each class of tenants, as in https://OWNER.github.io/lido/recipes/tenants.html.'

export const constructorErrors = new OptionErrors('a RemotePool', InvalidOptionError, {
  groups: NO_GROUPS,
  aging:
    'Waiting does not change the priority of a job in BullMQ. Use a queue for each priority: hosts take jobs of all their queues in turns, as in https://OWNER.github.io/lido/recipes/tenants.html.',
})

const keepTable = new OptionTable({
  age: integer({ min: 1 }, { default: 3600 }),
  count: integer({ min: 1 }, { default: 10_000 }),
} satisfies RulesFor<NonNullable<RemotePoolOptions['keepResults']>>)

const backoffTable = new OptionTable({
  type: value<'fixed' | 'exponential' | undefined>(
    given => given === 'fixed' || given === 'exponential',
    "'fixed' or 'exponential'",
    { default: undefined },
  ),
  delay: integer({ min: 0 }, { default: undefined }),
  jitter: value<number | undefined>(
    given => typeof given === 'number' && given >= 0 && given <= 1,
    'a number from 0 to 1',
    { default: undefined },
  ),
} satisfies RulesFor<Exclude<Backoff, number>>)

const backoff: OptionRule<Backoff | undefined> = {
  default: undefined,
  read(given, option, errors) {
    if (Number.isSafeInteger(given) && (given as number) >= 0) return given as number
    if (!isRecord(given)) {
      return errors.wrong(
        option,
        given,
        "milliseconds, or an object as in { type: 'exponential', delay: 1000 }",
      )
    }
    const { type, delay, jitter } = backoffTable.read(given, errors, `${option}.`)
    if (type === undefined) return errors.wrong(`${option}.type`, type, "'fixed' or 'exponential'")
    if (delay === undefined) return errors.wrong(`${option}.delay`, delay, 'an integer of at least 0')
    return { type, delay, ...(jitter !== undefined && { jitter }) }
  },
}

/** The pause before the next attempt, as BullMQ counts it. @param failures failed attempts, at least 1 */
export function backoffMs(backoff: Backoff | undefined, failures: number): number {
  if (backoff === undefined || typeof backoff === 'number') return backoff ?? 0
  const { type, delay, jitter = 0 } = backoff
  const most = type === 'fixed' ? delay : delay * 2 ** (failures - 1)
  return Math.round(most * (1 - jitter * Math.random()))
}

export const remotePoolTable = new OptionTable({
  ...engineRules,
  name: text({ default: 'default' }),
  maxQueue: integer({ min: 1, orInfinity: true }, { default: Number.POSITIVE_INFINITY }),
  maxValueBytes: integer({ min: 1 }, { default: DEFAULT_MAX_VALUE_BYTES }),
  keepResults: group(keepTable, 'age: 3600', { default: keepTable.read({}, constructorErrors) }),
  errorClasses: value<readonly ErrorClass[]>(
    given => Array.isArray(given) && given.every(member => problemWithClass(member) === null),
    'an array of classes that extend Error',
    {
      default: [],
    },
  ),
  attempts: integer({ min: 1, max: MOST_ATTEMPTS }, { default: 1 }),
  backoff,
  timeout: milliseconds(false, {
    default: Number.POSITIVE_INFINITY,
  }),
  connectTimeout: milliseconds(false, { default: 30_000 }),
} satisfies RulesFor<RemotePoolOptions>)

const { name, signal, timeout, queueTimeout, deadline, onProgress } = runTable.rules
const jobRules = {
  timeout,
  deadline,
  priority: integer({ min: -MOST_PRIORITY, max: MOST_PRIORITY }, { default: 0 }),
  attempts: integer({ min: 1, max: MOST_ATTEMPTS }, { default: undefined }),
  backoff,
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
  key: NO_KEYS,
  keyOrder: NO_KEYS,
  group: NO_GROUPS,
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
  itemsPerTask: "Use 'itemsPerJob'.",
})
export const resultErrors = new OptionErrors('result()', InvalidTaskError)
export const cancelErrors = new OptionErrors('cancel()', InvalidTaskError)

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
