// The table of a pool's options. It gives the run-time check, the defaults, the hints for wrong names and the rows of the
// reference page.
import type { WorkerOptions } from 'node:worker_threads'
import { type ErrorClass, problemWithClass } from '../../shared/errors/serialize-error.js'
import {
  boolean,
  group,
  integer,
  isRecord,
  milliseconds,
  oneOf,
  text,
  unchecked,
  value,
} from '../../shared/options/option-rules.js'
import {
  describe,
  type OptionErrors,
  type OptionRule,
  OptionTable,
  type Resolved,
  type RulesFor,
} from '../../shared/options/option-table.js'
import { SHARE_ENV } from '../../shared/platform/host-node-modules.js'
import type { BackendKind } from '../backend/backend-kind.js'
import type { TaskQueue } from '../queue/task-queue.js'
import type { LoadBalancer } from '../scheduler/load-balancer.js'
import type { RetryOptions } from '../task/retry.js'
import { type RestartOptions, restartDefaults } from '../workers/restart-policy.js'
import type { PoolOptions } from './pool-options.js'

const NONE = Number.POSITIVE_INFINITY
const MOST_WORKERS = 4096
const MOST_SLOTS = 65_536
/** A worker has more than this before its first task. */
const LEAST_MEMORY_MB = 4
const MOST_ATTEMPTS = 100
/** Below these limits Node ends the whole process, not only the worker. */
const LEAST_STACK_MB = 1
const LEAST_OLD_GENERATION_MB = 4
/** Above this limit, as with Infinity, Node ends the process too. */
const MOST_RESERVED_MB = 2 ** 20

const restartTable = new OptionTable({
  failures: integer(
    { min: 1, max: 1000, orInfinity: true },
    {
      default: restartDefaults.failures,
      description: 'failed starts within `period` after which no worker is started for a while',
    },
  ),
  period: milliseconds(false, {
    default: restartDefaults.period,
    description: 'the time in which failed starts are counted',
  }),
  pause: milliseconds(false, {
    default: restartDefaults.pause,
    description: 'until the next worker is started, doubled after each failure up to 30,000',
  }),
} satisfies RulesFor<RestartOptions>)

const retryTable = new OptionTable({
  attempts: integer(
    { min: 1, max: MOST_ATTEMPTS },
    { default: undefined, description: 'runs of the task in all' },
  ),
  when: value<RetryOptions['when']>(
    given => typeof given === 'function',
    'a function (error, attempt) => true or false',
    {
      type: '`(error, attempt) => boolean`',
      default: undefined,
      description: 'whether to run the task again after this error',
    },
  ),
} satisfies RulesFor<RetryOptions>)

/** The option `retry` of a pool and of a call. */
export const retryRule: OptionRule<RetryOptions | undefined> = retryRuleOf()

function retryRuleOf(): OptionRule<RetryOptions | undefined> {
  const rule = group(retryTable, 'attempts: 3', {
    type: '`{ attempts, when }`',
    default: undefined,
    description: 'runs a task again when its worker died',
  })
  const read = (given: unknown, option: string, errors: OptionErrors) => {
    const retry = rule.read(given, option, errors)
    if (retry?.attempts !== undefined) return retry as RetryOptions
    return errors.wrong(`${option}.attempts`, undefined, `an integer from 1 to ${MOST_ATTEMPTS}`)
  }
  return { ...rule, default: undefined, read }
}

function megabytes(min: number, max: number): OptionRule<number | undefined> {
  const isRight = (given: unknown) => typeof given === 'number' && given >= min && given <= max
  const expected = `a number from ${min} to ${max}, or Node would end the process`
  return value<number | undefined>(isRight, expected, { type: 'MB', default: undefined, description: '' })
}

const resourceLimitsTable = new OptionTable({
  stackSizeMb: megabytes(LEAST_STACK_MB, MOST_RESERVED_MB),
  maxOldGenerationSizeMb: megabytes(LEAST_OLD_GENERATION_MB, NONE),
  maxYoungGenerationSizeMb: megabytes(0, NONE),
  codeRangeSizeMb: megabytes(0, MOST_RESERVED_MB),
} satisfies RulesFor<NonNullable<WorkerOptions['resourceLimits']>>)

function isQueue(given: unknown): boolean {
  const queue = given as TaskQueue | null
  return (
    isRecord(queue) &&
    typeof queue.push === 'function' &&
    typeof queue.shift === 'function' &&
    typeof queue.remove === 'function' &&
    queue.size >= 0 &&
    (queue.capacity === undefined || (typeof queue.capacity === 'number' && queue.capacity >= 0))
  )
}

/** An array of classes that extend Error, each with its own name. */
const errorClassesRule: OptionRule<readonly ErrorClass[]> = {
  type: 'array of classes that extend `Error`',
  default: [],
  defaultText: '`[]`',
  description: 'classes by which errors of handlers are revived, found by name',
  read(given, option, errors) {
    if (!Array.isArray(given)) return errors.wrong(option, given, 'an array of classes that extend Error')
    const names = new Set<string>()
    for (const [index, errorClass] of given.entries()) {
      const problem =
        problemWithClass(errorClass) ??
        (names.has(errorClass.name) ? `has the name of another one, '${errorClass.name}'` : null)
      if (problem !== null)
        errors.contradiction(
          option,
          `The option '${option}' must hold classes that extend Error, each with a name of its own; item ${index}, ${describe(errorClass)}, ${problem}.`,
        )
      names.add(errorClass.name)
    }
    return Object.freeze([...given])
  },
}

export const poolTable = new OptionTable({
  filename: unchecked<string | URL | undefined>({
    type: 'absolute path, `file:` string, `URL`, or package name',
    default: undefined,
    description: 'module with the handler',
  }),
  name: text({ default: 'default', description: 'which export of the module is the handler' }),
  label: text({
    default: 'lido',
    description: 'name of the pool in thread names, process titles, warnings and statistics',
  }),
  minWorkers: integer(
    { min: 0, max: MOST_WORKERS },
    {
      default: undefined,
      defaultText: 'half of the usable cores, at least 1',
      description: 'workers kept alive; the constructor starts them',
    },
  ),
  maxWorkers: integer(
    { min: 1, max: MOST_WORKERS },
    { default: undefined, defaultText: 'the usable cores', description: 'most workers alive at once' },
  ),
  clusterSize: integer(
    { min: 1, max: MOST_WORKERS },
    { default: 1, description: 'processes of this program that share the machine, as under `node:cluster`' },
  ),
  idleTimeout: milliseconds(true, {
    default: 30_000,
    description: 'how long a worker above `minWorkers` may be idle before it ends',
  }),
  maxQueue: value<number | 'auto'>(
    given => given === 'auto' || given === NONE || (Number.isSafeInteger(given) && (given as number) >= 0),
    "an integer of at least 0, Infinity or 'auto'",
    {
      type: "integer ≥ 0, `Infinity` or `'auto'`",
      default: NONE,
      description: "most tasks that may wait; `'auto'` is `maxWorkers²`",
    },
  ),
  concurrentTasksPerWorker: integer(
    { min: 1, max: MOST_SLOTS },
    { default: 1, description: 'slots of a worker; above 1 it helps only handlers that await' },
  ),
  resourceLimits: group(resourceLimitsTable, 'maxOldGenerationSizeMb: 256', {
    type: 'object, as in `worker_threads`',
    default: undefined,
    description: 'heap and stack limits of each worker',
  }),
  env: value<WorkerOptions['env']>(given => given === SHARE_ENV || isRecord(given), 'an object', {
    type: 'object, or `SHARE_ENV`',
    default: undefined,
    defaultText: "Node's",
    description: "the workers' environment variables",
  }),
  argv: value<WorkerOptions['argv']>(Array.isArray, 'an array', {
    type: 'array',
    default: undefined,
    description: "arguments appended to the workers' `process.argv`",
  }),
  execArgv: value<string[] | undefined>(
    given => Array.isArray(given) && given.every(item => typeof item === 'string'),
    'an array of strings',
    {
      type: 'array of strings',
      default: undefined,
      defaultText: "the program's",
      description: "Node's flags for each worker",
    },
  ),
  workerData: unchecked<unknown>({
    type: 'any',
    default: undefined,
    description: 'value that every worker gets as `workerData`',
  }),
  niceIncrement: integer(
    { min: process.platform === 'win32' ? -100 : 0, max: 100 },
    {
      type: 'integer from 0 to 100',
      default: 0,
      description: "lowers the workers' priority; needs the package `@napi-rs/nice`",
    },
  ),
  trackUnmanagedFds: boolean({
    default: true,
    description: 'closes file descriptors that a worker thread leaves open',
  }),
  timeout: milliseconds(false, {
    default: NONE,
    description: 'how long a task may run, from its start in a worker',
  }),
  queueTimeout: milliseconds(true, {
    default: NONE,
    description: 'how long a task may wait, from the call until a worker starts it',
  }),
  cancelGrace: milliseconds(true, {
    default: 100,
    description: 'how long the handler of a cancelled task may take to end',
  }),
  closeTimeout: milliseconds(true, {
    default: 30_000,
    description: 'how long `close()` waits for accepted tasks and for teardowns',
  }),
  maxTasksPerWorker: integer(
    { min: 1, orInfinity: true },
    { default: NONE, description: 'tasks that a worker starts before the pool replaces it' },
  ),
  maxWorkerAge: milliseconds(false, {
    default: NONE,
    description: 'age at which the pool replaces a worker',
  }),
  maxWorkerMemoryMb: value<number>(
    given => typeof given === 'number' && given >= LEAST_MEMORY_MB,
    `MiB: a number of at least ${LEAST_MEMORY_MB}, or Infinity`,
    {
      type: `MiB ≥ ${LEAST_MEMORY_MB}, or \`Infinity\``,
      default: NONE,
      description: 'heap and buffers above which the pool replaces a worker',
    },
  ),
  teardownTimeout: milliseconds(true, {
    default: 5000,
    description: "how long the `teardown` exports of a worker's modules may take",
  }),
  restart: group(restartTable, 'failures: 3', {
    type: '`{ failures, period, pause }`',
    default: Object.freeze({ ...restartDefaults }),
    defaultText: '`{ failures: 5, period: 10_000, pause: 1_000 }`',
    description: 'when the pool stops starting workers, because starts fail',
  }),
  retry: retryRule,
  errorClasses: errorClassesRule,
  callerStack: boolean({
    default: false,
    description: 'adds to the stack of each rejection where `run()` was called',
  }),
  loadBalancer: value<LoadBalancer | undefined>(
    given => typeof given === 'function',
    'a function (task, workers) => worker or null',
    {
      type: '`(task, workers) => worker or null`',
      default: undefined,
      defaultText: 'the worker that is free first',
      description: 'chooses the worker of each task',
    },
  ),
  queue: value<TaskQueue | undefined>(
    isQueue,
    'a TaskQueue: { size, push(task), shift(), remove(task), capacity? }',
    {
      type: '`TaskQueue`',
      default: undefined,
      defaultText: 'a `FifoQueue`',
      description: 'where tasks wait; belongs to one open pool at a time',
    },
  ),
  recordTiming: boolean({
    default: true,
    description: 'keeps histograms of wait and run times, and measures each handler',
  }),
  performanceWarnings: boolean({
    default: true,
    description: 'warns once for each handler that gains nothing from a worker',
  }),
  workerHistogram: boolean({ default: false, description: 'keeps a histogram of run times for each worker' }),
  busyWait: boolean({
    default: true,
    description: 'lets idle workers and the host poll for a moment before they sleep',
  }),
  transport: oneOf(['shared-memory', 'messages'], {
    default: 'shared-memory',
    description: 'how tasks and results travel between threads',
  }),
  backend: oneOf<BackendKind>(['thread', 'process', 'inline'], {
    default: 'thread',
    description: 'where workers live',
  }),
} satisfies RulesFor<PoolOptions>)

export type PoolTable = (typeof poolTable)['rules']

/** Names of Piscina's, of other pools and of earlier versions. */
export const poolReplacements: Record<string, string> = {
  minThreads: "Use 'minWorkers'.",
  maxThreads: "Use 'maxWorkers'.",
  threads: "Use 'maxWorkers'.",
  workers: "Use 'maxWorkers'.",
  processes: "Use 'clusterSize'.",
  maxQueueSize: "Use 'maxQueue'.",
  fileName: "Use 'filename'.",
  taskQueue: "Use 'queue'. Its members differ from Piscina's: push, shift, remove and size.",
  atomics: "Use transport: 'messages' in place of atomics: 'disabled'. The other values need no option.",
  useAtomics: "Use transport: 'messages' in place of useAtomics: false. True needs no option.",
  stricterFIFO: 'Leave it out: tasks start in the order of the calls.',
  lane: "Use transport: 'messages' in place of lane: false. True needs no option.",
  spin: "Use 'busyWait'.",
  worthWarnings: "Use 'performanceWarnings'.",
  maxWorkerMemory: "Use 'maxWorkerMemoryMb', in MiB.",
  closeOnSignals: "Close the pool in your own listener: process.once('SIGTERM', () => pool.close()).",
  handlers: 'Make a second pool for the handlers that need another backend.',
  context: "Leave it out: a handler gets only its payload. Import 'context' from 'lido/worker'.",
  decodeSliceMs: 'Leave it out: the host always reads large results in slices.',
}

/** The options of a pool with the given values and all defaults. */
export interface PoolSettings extends Resolved<Omit<PoolTable, 'filename'>> {
  /** An absolute path. `undefined`: each call names its own file. */
  readonly filename: string | undefined
  readonly minWorkers: number
  readonly maxWorkers: number
  /** A number, also where the option was `'auto'`. */
  readonly maxQueue: number
  readonly queue: TaskQueue
}
