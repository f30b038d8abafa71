// The table of a pool's options: the run-time check, the default and the row of the reference page for each option.
// Also the hints for wrong option names.
import type { WorkerOptions } from 'node:worker_threads'
import type { ErrorClass, PoolOptions, RestartOptions, RetryOptions } from '../../api/pool-options.js'
import type { LoadBalancer, TaskQueue } from '../../api/queue.js'
import type { BackendKind } from '../../api/worker-view.js'
import { problemWithClass } from '../../shared/errors/serialize-error.js'
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
  type RulesFor,
} from '../../shared/options/option-table.js'
import { SHARE_ENV } from '../../shared/platform/host-node-modules.js'
import { types } from '../../shared/platform/node-modules.js'
import { restartDefaults } from '../workers/restart-policy.js'

const NONE = Number.POSITIVE_INFINITY
const MOST_WORKERS = 4096
const MOST_SLOTS = 65_536
/** A worker uses more memory than this before its first task. */
const LEAST_MEMORY_MB = 4
const MOST_ATTEMPTS = 100
/** Below these limits Node aborts the whole process, not only the worker. */
const LEAST_STACK_MB = 1
const LEAST_OLD_GENERATION_MB = 4
/** Above this limit, and with `Infinity`, Node aborts the whole process, too. */
const MOST_RESERVED_MB = 2 ** 20

const restartTable = new OptionTable({
  failures: integer(
    { min: 1, max: 1000, orInfinity: true },
    {
      default: restartDefaults.failures,
      description: 'failed starts within `period` that open the circuit',
    },
  ),
  period: milliseconds(false, {
    default: restartDefaults.period,
    description: 'time in which failed starts are counted',
  }),
  pause: milliseconds(false, {
    default: restartDefaults.pause,
    description: 'time until the pool starts one worker again',
  }),
} satisfies RulesFor<RestartOptions>)

const retryTable = new OptionTable({
  attempts: integer(
    { min: 1, max: MOST_ATTEMPTS },
    { default: undefined, description: 'runs of the task in all; 1 means no retry' },
  ),
  when: value<RetryOptions['when']>(
    given => typeof given === 'function',
    'a function (error, attempt) => true or false',
    {
      type: '`(error, attempt) => boolean`',
      default: undefined,
      description: 'decides whether the task runs again',
    },
  ),
} satisfies RulesFor<RetryOptions>)

/** The option `retry` of a pool and of a call. */
export const retryRule: OptionRule<RetryOptions | undefined> = retryRuleOf()

function retryRuleOf(): OptionRule<RetryOptions | undefined> {
  const rule = group(retryTable, 'attempts: 3', {
    type: '`{ attempts, when }`',
    default: undefined,
    description: 'runs a task again after its worker died',
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
  const expected = `a number from ${min} to ${max}, because Node aborts the process for other values`
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
  description: 'your error classes; thrown errors of these classes keep their class',
  read(given, option, errors) {
    if (!Array.isArray(given)) return errors.wrong(option, given, 'an array of classes that extend Error')
    const names = new Set<string>()
    for (const [index, errorClass] of given.entries()) {
      const problem =
        problemWithClass(errorClass) ??
        (names.has(errorClass.name) ? `has the same name as another class, '${errorClass.name}'` : null)
      if (problem !== null)
        errors.contradiction(
          option,
          `The option '${option}' must hold classes that extend Error, each with its own name. Item ${index}, ${describe(errorClass)}, ${problem}.`,
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
  module: value<object | undefined>(
    given => typeof given === 'function' || (isRecord(given) && !types.isPromise(given)),
    "a module, as in module: await import('./work.js')",
    {
      type: 'module object',
      default: undefined,
      description: "module with the handler, for tests with backend `'inline'`",
    },
  ),
  name: text({ default: 'default', description: 'name of the export that is the handler' }),
  label: text({
    default: 'lido',
    description: 'name of the pool in thread names, process titles, warnings and statistics',
  }),
  minWorkers: integer(
    { min: 0, max: MOST_WORKERS },
    {
      default: undefined,
      defaultText: 'half of the usable cores, rounded down, at least 1',
      description: 'workers kept alive; the constructor starts them',
    },
  ),
  maxWorkers: integer(
    { min: 1, max: MOST_WORKERS },
    { default: undefined, defaultText: 'the usable cores', description: 'maximum number of living workers' },
  ),
  clusterSize: integer(
    { min: 1, max: MOST_WORKERS },
    {
      default: 1,
      description: 'how many processes of this program run on the machine, as with `node:cluster`',
    },
  ),
  idleTimeout: milliseconds(true, {
    default: 30_000,
    description: 'idle time after which a worker above `minWorkers` stops',
  }),
  maxQueue: value<number | 'auto'>(
    given => given === 'auto' || given === NONE || (Number.isSafeInteger(given) && (given as number) >= 0),
    "an integer of at least 0, Infinity or 'auto'",
    {
      type: "integer ≥ 0, `Infinity` or `'auto'`",
      default: NONE,
      description: "maximum number of queued tasks; `'auto'` is `maxWorkers²`",
    },
  ),
  concurrentTasksPerWorker: integer(
    { min: 1, max: MOST_SLOTS },
    { default: 1, description: 'slots of each worker; more than 1 helps only handlers that await' },
  ),
  resourceLimits: group(resourceLimitsTable, 'maxOldGenerationSizeMb: 256', {
    type: 'object, as in `worker_threads`',
    default: undefined,
    description: 'heap and stack limits of each worker',
  }),
  env: value<WorkerOptions['env']>(given => given === SHARE_ENV || isRecord(given), 'an object', {
    type: 'object, or `SHARE_ENV`',
    default: undefined,
    defaultText: 'a copy of `process.env`',
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
      type: 'integer from 0 to 100; on Windows from -100',
      default: 0,
      description: "changes the workers' priority; needs the package `@napi-rs/nice`",
    },
  ),
  trackUnmanagedFds: boolean({
    default: true,
    description: 'closes file descriptors that a worker thread leaves open',
  }),
  output: oneOf<'inherit' | 'pipe'>(['inherit', 'pipe'], {
    default: 'inherit',
    description:
      "where the workers print: `'inherit'`: as the program; `'pipe'`: to `pool.stdout` and `pool.stderr`",
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
    description: 'how long the handler of a cancelled task may continue',
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
      description: 'size of heap and buffers above which the pool replaces a worker',
    },
  ),
  setupTimeout: milliseconds(true, {
    default: 60_000,
    description: 'how long the `setup` export may take; 0: the pool does not call it',
  }),
  teardownTimeout: milliseconds(true, {
    default: 5000,
    description: "how long the `teardown` exports of a worker's modules may take",
  }),
  restart: group(restartTable, 'failures: 3', {
    type: '`{ failures, period, pause }`',
    default: Object.freeze({ ...restartDefaults }),
    defaultText: '`{ failures: 5, period: 10_000, pause: 1_000 }`',
    description: 'how many failed starts the pool accepts before it pauses',
  }),
  retry: retryRule,
  errorClasses: errorClassesRule,
  callerStack: boolean({
    default: false,
    description: 'adds the stack of the `run()` call to each rejection',
  }),
  loadBalancer: value<LoadBalancer | undefined>(
    given => typeof given === 'function',
    'a function (task, workers) => worker or null',
    {
      type: '`(task, workers) => worker or null`',
      default: undefined,
      defaultText: 'the first free worker',
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
      description: 'object that holds the queued tasks',
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
  busyWait: value<'auto' | boolean>(
    given => given === 'auto' || typeof given === 'boolean',
    "'auto', true or false",
    {
      type: "`'auto'` or boolean",
      default: 'auto',
      description: 'makes short tasks faster: idle threads check repeatedly for work before they sleep',
    },
  ),
  transport: oneOf<'shared-memory' | 'messages'>(['shared-memory', 'messages'], {
    default: 'shared-memory',
    description: 'how tasks and results travel between threads',
  }),
  backend: oneOf<BackendKind>(['thread', 'process', 'inline'], {
    default: 'thread',
    description: 'where handlers run: in threads, in processes, or on the host',
  }),
} satisfies RulesFor<PoolOptions>)

export type PoolTable = (typeof poolTable)['rules']

/** Option names of Piscina, of other pools and of earlier versions, each with a hint. */
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
