// The table of a pool's options: the run-time check, the default and the row of the reference page for each option.
// Also the hints for wrong option names.
import type { WorkerOptions } from 'node:worker_threads'
import type {
  ErrorClass,
  GroupOptions,
  PoolOptions,
  RestartOptions,
  RetryOptions,
} from '../../api/pool-options.js'
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
    },
  ),
  period: milliseconds(false, {
    default: restartDefaults.period,
  }),
  pause: milliseconds(false, {
    default: restartDefaults.pause,
  }),
} satisfies RulesFor<RestartOptions>)

const retryTable = new OptionTable({
  attempts: integer({ min: 1, max: MOST_ATTEMPTS }, { default: undefined }),
  when: value<RetryOptions['when']>(
    given => typeof given === 'function',
    'a function (error, attempt) => true or false',
    {
      default: undefined,
    },
  ),
} satisfies RulesFor<RetryOptions>)

/** The option `retry` of a pool and of a call. */
export const retryRule: OptionRule<RetryOptions | undefined> = retryRuleOf()

function retryRuleOf(): OptionRule<RetryOptions | undefined> {
  const rule = group(retryTable, 'attempts: 3', {
    default: undefined,
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
  return value<number | undefined>(isRight, expected, { default: undefined })
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

const groupsTable = new OptionTable({
  limit: integer({ min: 1, orInfinity: true }, { default: NONE }),
  weight: value<GroupOptions['weight']>(
    given => typeof given === 'function',
    'a function (group) => number',
    {
      default: undefined,
    },
  ),
} satisfies RulesFor<GroupOptions>)

/** An array of classes that extend Error, each with its own name. */
const errorClassesRule: OptionRule<readonly ErrorClass[]> = {
  default: [],
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
    default: undefined,
  }),
  module: value<object | undefined>(
    given =>
      typeof given === 'function' || (isRecord(given) && !types.isPromise(given) && !(given instanceof URL)),
    "a function that imports the module, as in module: () => import('./work.js')",
    {
      default: undefined,
    },
  ),
  base: unchecked<string | URL | undefined>({ default: undefined }),
  name: text({ default: 'default' }),
  label: text({
    default: 'lido',
  }),
  minWorkers: integer(
    { min: 0, max: MOST_WORKERS },
    {
      default: undefined,
    },
  ),
  maxWorkers: integer({ min: 1, max: MOST_WORKERS }, { default: undefined }),
  clusterSize: integer(
    { min: 1, max: MOST_WORKERS },
    {
      default: 1,
    },
  ),
  idleTimeout: milliseconds(true, {
    default: 30_000,
  }),
  maxQueue: value<number | 'auto'>(
    given => given === 'auto' || given === NONE || (Number.isSafeInteger(given) && (given as number) >= 0),
    "an integer of at least 0, Infinity or 'auto'",
    {
      default: NONE,
    },
  ),
  concurrentTasksPerWorker: integer({ min: 1, max: MOST_SLOTS }, { default: 1 }),
  resourceLimits: group(resourceLimitsTable, 'maxOldGenerationSizeMb: 256', {
    default: undefined,
  }),
  env: value<WorkerOptions['env']>(given => given === SHARE_ENV || isRecord(given), 'an object', {
    default: undefined,
  }),
  argv: value<WorkerOptions['argv']>(Array.isArray, 'an array', {
    default: undefined,
  }),
  execArgv: value<string[] | undefined>(
    given => Array.isArray(given) && given.every(item => typeof item === 'string'),
    'an array of strings',
    {
      default: undefined,
    },
  ),
  workerData: unchecked<unknown>({
    default: undefined,
  }),
  niceIncrement: integer(
    { min: process.platform === 'win32' ? -100 : 0, max: 100 },
    {
      default: 0,
    },
  ),
  trackUnmanagedFds: boolean({
    default: true,
  }),
  output: oneOf<'inherit' | 'pipe'>(['inherit', 'pipe'], {
    default: 'inherit',
  }),
  timeout: milliseconds(false, {
    default: NONE,
  }),
  queueTimeout: milliseconds(true, {
    default: NONE,
  }),
  cancelGrace: milliseconds(true, {
    default: 100,
  }),
  closeTimeout: milliseconds(true, {
    default: 30_000,
  }),
  maxTasksPerWorker: integer({ min: 1, orInfinity: true }, { default: NONE }),
  maxWorkerAge: milliseconds(false, {
    default: NONE,
  }),
  maxWorkerMemoryMb: value<number>(
    given => typeof given === 'number' && given >= LEAST_MEMORY_MB,
    `MiB: a number of at least ${LEAST_MEMORY_MB}, or Infinity`,
    {
      default: NONE,
    },
  ),
  setupTimeout: milliseconds(true, {
    default: 60_000,
  }),
  teardownTimeout: milliseconds(true, {
    default: 5000,
  }),
  restart: group(restartTable, 'failures: 3', {
    default: Object.freeze({ ...restartDefaults }),
  }),
  retry: retryRule,
  errorClasses: errorClassesRule,
  callerStack: boolean({
    default: false,
  }),
  loadBalancer: value<LoadBalancer | undefined>(
    given => typeof given === 'function',
    'a function (task, workers) => worker or null',
    {
      default: undefined,
    },
  ),
  queue: value<TaskQueue | undefined>(
    isQueue,
    'a TaskQueue: { size, push(task), shift(), remove(task), capacity? }',
    {
      default: undefined,
    },
  ),
  groups: group(groupsTable, 'limit: 2', { default: undefined }),
  aging: milliseconds(false, { default: undefined }),
  recordTiming: boolean({
    default: true,
  }),
  performanceWarnings: boolean({
    default: true,
  }),
  workerHistogram: boolean({ default: false }),
  busyWait: value<'auto' | boolean>(
    given => given === 'auto' || typeof given === 'boolean',
    "'auto', true or false",
    {
      default: 'auto',
    },
  ),
  transport: oneOf<'shared-memory' | 'messages'>(['shared-memory', 'messages'], {
    default: 'shared-memory',
  }),
  backend: oneOf<BackendKind>(['thread', 'process', 'inline'], {
    default: 'thread',
  }),
} satisfies RulesFor<PoolOptions>)

export type PoolTable = (typeof poolTable)['rules']

/** Option names of Piscina, of other pools and of earlier versions, each with a hint. */
export const poolReplacements: Record<string, string> = {
  minThreads: "Use 'minWorkers'.",
  maxThreads: "Use 'maxWorkers'.",
  threads: "Use 'maxWorkers'.",
  workers: "Use 'maxWorkers'.",
  numThreads: "Use 'maxWorkers'.",
  poolSize: "Use 'maxWorkers'.",
  size: "Use 'maxWorkers'.",
  concurrency: "Use 'maxWorkers', or pass 'concurrency' to map().",
  file: "Use 'filename'.",
  signal: "Pass 'signal' to run() or map().",
  onProgress: "Pass 'onProgress' to run() or map().",
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
  key: "Pass 'key' to run(), map() or with().",
  itemsPerTask: "Pass 'itemsPerTask' to map().",
  decodeSliceMs: 'Leave it out: the host always reads large results in slices.',
}
