// `processor(pool)`: the function that a BullMQ worker calls with each job. The job runs as a task of the pool.
import { fileURLToPath } from 'node:url'
import { type Job, type Processor, UnrecoverableError } from 'bullmq'
import {
  InvalidOptionError,
  InvalidTaskError,
  type Pool,
  QueueFullError,
  type RunOptions,
} from '../../index.js'
import {
  adapterFile,
  boolean,
  foreignValues,
  integer,
  mayHoldOptions,
  milliseconds,
  OptionErrors,
  OptionTable,
  type RulesFor,
  realClock,
  runWrapped,
  shorten,
  value,
} from '../../kit.js'
import type { TaskJob } from '../../worker.js'
import { carrierOf, inContextOf } from './carrier.js'
import { type GiveBackReason, giveBack, giveBackOf } from './give-back.js'
import { HostReports } from './host-events.js'
import { type HandlerOrder, JOB_METHODS, methodName, type SandboxOrder } from './in-worker.js'
import {
  argumentsOf,
  DEFAULT_MAX_VALUE_BYTES,
  decodeValue,
  encodeError,
  encodeValue,
  type ItemAnswer,
  isOfRemotePool,
  itemsOf,
  type JobTerms,
  storableError,
  termsOfJob,
} from './job-values.js'
import { repeatWrites } from './job-writes.js'
import { outcomeOf } from './outcome.js'
import { checkBullmq } from './package.js'
import { type StartTask, slotsOf, startAtOnce } from './prefetch.js'
import { ProgressSender } from './progress-sender.js'
import { Refusals, withNote } from './refusals.js'

/** The options of `processor()`, and the same options of `serve()`. */
export interface ProcessorOptions {
  /**
   * Calls the pool's handler as BullMQ calls a sandboxed processor: `(job, token, signal)`. The methods of the job run on the host.
   * Default `false`: the job's name chooses the export, and its data is the payload.
   * @see [processor()](https://OWNER.github.io/lido/reference/bullmq.html#processorpool-options)
   */
  sandbox?: boolean | undefined
  /**
   * The names of the jobs that this host takes. It gives other jobs back to the queue, for other hosts. Default: with `sandbox`, all
   * names; otherwise the names of the functions that the pool's module exports.
   * @see [processor()](https://OWNER.github.io/lido/reference/bullmq.html#processorpool-options)
   */
  handlers?: readonly string[] | undefined
  /**
   * Milliseconds for which this host gives a job back that it cannot run, from the first time on. Then it fails the job. A host cannot
   * run a job when its module has no such function, when `handlers` has no such name, when no worker of the pool starts, or when another
   * version of lido wrote the job. Default 600,000.
   * @see [processor()](https://OWNER.github.io/lido/reference/bullmq.html#processorpool-options)
   */
  giveBackTimeout?: number | undefined
  /**
   * Milliseconds that a job may run, or one item of `map()`. It also holds for jobs of other clients. The shorter limit wins where the
   * job has one of its own. Default: the pool's `timeout`.
   * @see [processor()](https://OWNER.github.io/lido/reference/bullmq.html#processorpool-options)
   */
  timeout?: number | undefined
  /**
   * Largest result, and largest encoded payload, of a `RemotePool`'s job, in bytes of JSON. A larger one fails the job with
   * `ValueTooLargeError`. Default 1,000,000.
   * @see [processor()](https://OWNER.github.io/lido/reference/bullmq.html#processorpool-options)
   */
  maxValueBytes?: number | undefined
}

export const processorRules = {
  sandbox: boolean({ default: false }),
  handlers: value<readonly string[] | undefined>(isListOfNames, 'an array of names, with at least one name', {
    default: undefined,
  }),
  giveBackTimeout: milliseconds(true, { default: 600_000 }),
  timeout: milliseconds(false, {
    default: Number.POSITIVE_INFINITY,
  }),
  maxValueBytes: integer(
    { min: 1 },
    {
      default: DEFAULT_MAX_VALUE_BYTES,
    },
  ),
} satisfies RulesFor<ProcessorOptions>

export const processorTable = new OptionTable(processorRules)
const errors = new OptionErrors('processor()', InvalidOptionError)

function wrapperUrl(): URL {
  return adapterFile('bullmq', wrapperPath)
}

/** @vercel/nft finds the file by a path that starts with `__dirname`, but not in an arrow function. */
function wrapperPath(): string {
  return `${__dirname}/../../../esm/adapters/bullmq/in-worker.js`
}

/** Exports that only the pool calls. The name of a job may come from outside. */
const hookNames = ['setup', 'teardown']

/**
 * Returns a processor for a BullMQ worker: `new Worker('images', processor(pool), { connection, concurrency })`. The caller closes the
 * worker, then the pool. Throws `InvalidOptionError`.
 */
export function processor(pool: Pool<any, any>, options: ProcessorOptions = {}): Processor {
  checkBullmq()
  checkPool(pool, errors)
  if (!mayHoldOptions(options)) errors.noObject(options, 'sandbox: true')
  const settings = processorTable.read(options, errors)
  const runner = new JobRunner(pool, { ...settings, closeTimeout: undefined })
  let reports: HostReports | null = null
  // BullMQ gives a signal only to a function with three parameters.
  return async (job, token, signal) => {
    try {
      return await runner.process(job, token, signal)
    } catch (thrown) {
      const facts = giveBackOf(thrown)
      reports ??= new HostReports(job.queueName, null)
      if (facts !== undefined) reports.givenBack(job, 0, facts)
      throw thrown
    }
  }
}

function isListOfNames(given: unknown): boolean {
  const isName = (name: unknown) => typeof name === 'string' && name !== ''
  return Array.isArray(given) && given.length > 0 && given.every(isName)
}

export function checkPool(given: unknown, errors: OptionErrors): void {
  const isPool =
    typeof (given as Pool | null)?.run === 'function' && typeof (given as Pool).room === 'function'
  if (!isPool) errors.wrong('pool', given, 'a Pool of lido')
}

interface RunnerSettings {
  /** `undefined` without `serve()`. */
  readonly closeTimeout: number | undefined
  readonly sandbox: boolean
  readonly handlers: readonly string[] | undefined
  readonly giveBackTimeout: number
  readonly timeout: number
  readonly maxValueBytes: number
}

export class JobRunner {
  readonly #pool: Pool<any, any>
  readonly #settings: RunnerSettings
  /** `null`: the host takes every name. */
  readonly #names: ReadonlySet<string> | null
  readonly #refusals: Refusals
  readonly #wrapper: string
  readonly #serverNow: () => number

  /** @param serverNow the clock of the queue's server, in milliseconds since 1970 */
  constructor(
    pool: Pool<any, any>,
    settings: RunnerSettings,
    serverNow: () => number = () => realClock.epochNow(),
  ) {
    this.#pool = pool
    this.#settings = settings
    this.#names = settings.handlers === undefined ? null : new Set(settings.handlers)
    this.#refusals = new Refusals(settings.giveBackTimeout)
    this.#serverNow = serverNow
    this.#wrapper = fileURLToPath(wrapperUrl())
  }

  /** Resolves to what BullMQ stores as the result. Rejects with an error that tells BullMQ what to do with the job. */
  async process(job: Job, token = '', signal?: AbortSignal, start = startAtOnce): Promise<unknown> {
    repeatWrites(job, this.#settings.closeTimeout)
    if (this.#names?.has(job.name) === false) {
      const error = new InvalidTaskError(
        'name',
        `This host takes no jobs of this name, because its option 'handlers' has only ${shorten([...this.#names].join(', '))}. Add the name to the 'handlers' of a host.`,
      )
      throw await this.#refuse(job, error, 'no handler', token)
    }
    try {
      const result = await this.#run(job, termsOfJob(job), token, signal, start)
      this.#refusals.accepted()
      return result
    } catch (error) {
      throw await this.#settle(job, error, token, signal)
    }
  }

  async #run(
    job: Job,
    terms: JobTerms | undefined,
    token: string,
    signal: AbortSignal | undefined,
    start: StartTask,
  ): Promise<unknown> {
    const { sandbox, maxValueBytes } = this.#settings
    const timeout = Math.min(terms?.timeout ?? Number.POSITIVE_INFINITY, this.#settings.timeout)
    const progress = new ProgressSender(job, terms === undefined ? null : maxValueBytes)
    const options: RunOptions = {
      signal,
      // Without a limit here, the pool's own limit holds.
      timeout: timeout === Number.POSITIVE_INFINITY ? undefined : timeout,
      deadline: this.#ownDeadline(terms),
      onProgress: value => progress.send(value),
      functions: functionsOf(job, sandbox),
    }
    const carrier = carrierOf(job, maxValueBytes)
    // The worker may know stores that this program does not.
    const carried = carrier === null ? undefined : foreignValues(carrier)
    const call = (order: HandlerOrder | SandboxOrder, options: RunOptions) =>
      inContextOf(carrier, () => runWrapped(this.#pool, order, options, this.#wrapper))
    if (sandbox) {
      const order: SandboxOrder = { sandboxJob: sandboxFields(job), token, carried }
      const result = await start(signal, queueTimeout => call(order, { ...options, queueTimeout }))
      return this.#encode(result, terms)
    }
    const { name } = job
    if (hookNames.includes(name)) {
      throw new InvalidTaskError(
        'name',
        `A job cannot call '${name}', because the pool calls this export itself. Give the handler another name.`,
      )
    }
    const facts = {
      id: job.id ?? '',
      name,
      attempt: job.attemptsMade + 1,
      parent: parentOf(job),
      options: JSON.stringify({ ...job.opts, lido: undefined }),
    }
    const runOne = (data: unknown, signal: AbortSignal | undefined) => {
      const input = terms === undefined ? data : decodeValue(data, 'payload', maxValueBytes)
      const isArgs = terms?.args === true
      const order: HandlerOrder = { job: facts, input: isArgs ? argumentsOf(input) : input, isArgs, carried }
      return start(signal, queueTimeout => call(order, { ...options, name, signal, queueTimeout }))
    }
    if (terms?.items) return await this.#runItems(itemsOf(job.data), signal, runOne)
    const result = await runOne(job.data, signal)
    await progress.sent()
    return this.#encode(result, terms)
  }

  /** A job has its deadline by the clock of the server. The pool uses the clock of this machine. */
  #ownDeadline(terms: JobTerms | undefined): number | undefined {
    const deadline = terms?.deadline
    return deadline === undefined ? undefined : deadline - this.#serverNow() + realClock.epochNow()
  }

  /** Other clients get what BullMQ makes of a result. */
  #encode(result: unknown, terms: JobTerms | undefined): unknown {
    return terms === undefined ? result : encodeValue(result, 'result', this.#settings.maxValueBytes)
  }

  /** Runs as many items at once as the pool has slots. An error that concerns the whole job cancels the other items. */
  async #runItems(
    items: unknown[],
    signal: AbortSignal | undefined,
    run: (item: unknown, signal: AbortSignal) => Promise<unknown>,
  ): Promise<ItemAnswer[]> {
    const answers: ItemAnswer[] = new Array(items.length)
    const stop = new AbortController()
    const both = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
    const left = items.entries()
    const runNext = async () => {
      for (const [index, item] of left) {
        for (;;) {
          try {
            answers[index] = {
              value: encodeValue(await run(item, both), 'result', this.#settings.maxValueBytes),
            }
          } catch (error) {
            if (error instanceof QueueFullError) {
              await this.#pool.room({ signal: both })
              continue
            }
            const outcome = outcomeOf(error, signal).do
            if (both.aborted || outcome === 'give back' || outcome === 'refuse') throw error
            answers[index] = { error: encodeError(error), isFinal: outcome === 'fail' }
          }
          break
        }
      }
    }
    try {
      await Promise.all(Array.from({ length: Math.min(slotsOf(this.#pool), items.length) }, runNext))
    } finally {
      stop.abort()
    }
    return encodeValue(answers, 'result', this.#settings.maxValueBytes) as ItemAnswer[]
  }

  /** Returns the error for BullMQ. A job that is given back waits again when the promise resolves. */
  async #settle(job: Job, error: unknown, token: string, signal: AbortSignal | undefined): Promise<Error> {
    const outcome = outcomeOf(error, signal)
    if (outcome.do === 'refuse') return await this.#refuse(job, error as Error, outcome.reason, token)
    if (outcome.do === 'give back') {
      const { reason, delayMs } = outcome
      return await giveBack(job, token, { reason, delayMs, ...(reason === 'full' && { error }) })
    }
    this.#refusals.accepted()
    return outcome.do === 'retry' ? storableFor(job, error) : finalError(job, error)
  }

  /** Returns the error for BullMQ. The job waits for another host when the promise resolves, unless no host took it for too long. */
  async #refuse(job: Job, error: Error, reason: GiveBackReason, token: string): Promise<Error> {
    const refusal = this.#refusals.refuse(job)
    if (refusal.isOver) {
      const seconds = Math.round(refusal.refusedForMs / 1000)
      const note = `This host gave the job back for ${seconds} s (giveBackTimeout), and no other host ran it.`
      return finalError(job, seconds === 0 ? error : withNote(error, note))
    }
    const { isFirst, delayMs, pauseMs } = refusal
    // Meanwhile the hosts that can run the jobs of the queue take them. The slot has the job, so that it fetches no other.
    await new Promise<void>(resolve => realClock.after(pauseMs, resolve, true))
    return await giveBack(job, token, { reason, delayMs, error, isRepeated: !isFirst })
  }
}

/** The errors of attempts, by what the processor threw for them. */
const attemptErrors = new WeakMap<object, unknown>()

/** The error of an attempt, without what the processor added for BullMQ. */
export function errorOf(thrown: unknown): unknown {
  return attemptErrors.get(Object(thrown)) ?? thrown
}

/** The error for an attempt that BullMQ may repeat. */
function storableFor(job: Job, error: unknown): Error {
  if (!isOfRemotePool(job)) return error as Error
  const stored = storableError(error)
  attemptErrors.set(stored, error)
  return stored
}

/** The error for a job that BullMQ does not try again. */
function finalError(job: Job, error: unknown): Error {
  const { message, stack } = storableFor(job, error)
  const final = new UnrecoverableError(message)
  Object.defineProperty(final, 'stack', { value: stack, configurable: true, writable: true })
  attemptErrors.set(final, error)
  return Object.assign(final, { cause: error })
}

/** The methods of the job that a worker may call. */
function functionsOf(job: Job, isSandbox: boolean): RunOptions['functions'] {
  if (!isSandbox) {
    return {
      [methodName('log')]: async (line: string) => void (await job.log(line)),
      [methodName('getChildrenValues')]: async () => (await job.getChildrenValues()) ?? {},
    }
  }
  const methods = job as unknown as Record<string, (...args: unknown[]) => unknown>
  return Object.fromEntries(
    JOB_METHODS.map(method => [methodName(method), (...args) => methods[method]!(...args)]),
  )
}

function parentOf({ parent }: Job): TaskJob['parent'] {
  // BullMQ's key of a queue ends with its name, which has no colon.
  return parent && { id: parent.id!, queue: parent.queueKey.slice(parent.queueKey.lastIndexOf(':') + 1) }
}

/** The fields that BullMQ's own sandbox gives to its processors. */
function sandboxFields(job: Job): Record<string, unknown> {
  const { data, opts, returnvalue } = job
  return { ...job.asJSONSandbox(), data, opts, returnValue: returnvalue ?? {} }
}
