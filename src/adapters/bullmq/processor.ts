// `processor(pool)`: the function that a BullMQ worker calls with each job. The job runs as a task of the pool.
import { fileURLToPath } from 'node:url'
import { DelayedError, type Job, type Processor, UnrecoverableError } from 'bullmq'
import {
  InvalidOptionError,
  InvalidTaskError,
  type Pool,
  QueueFullError,
  type RunOptions,
} from '../../index.js'
import {
  boolean,
  integer,
  mayHoldOptions,
  OptionErrors,
  OptionTable,
  type RulesFor,
  realClock,
  runWrapped,
} from '../../kit.js'
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
import { wrapperUrl } from './module-urls.js'
import { outcomeOf } from './outcome.js'
import { checkBullmq, WaitingError } from './package.js'
import { ProgressSender } from './progress-sender.js'

export interface ProcessorOptions {
  /**
   * Calls the pool's handler as BullMQ calls a sandboxed processor: `(job, token, signal)`. The methods of the job run on the host.
   * Default `false`: the job's name chooses the export, and its data is the payload.
   */
  sandbox?: boolean | undefined
  /**
   * Largest result, and largest encoded payload, of a `RemotePool`'s job, in bytes of JSON. A larger one fails the job with
   * `ValueTooLargeError`. Default 1,000,000.
   */
  maxValueBytes?: number | undefined
}

export const processorRules = {
  sandbox: boolean({ default: false }),
  maxValueBytes: integer(
    { min: 1 },
    {
      default: DEFAULT_MAX_VALUE_BYTES,
    },
  ),
} satisfies RulesFor<ProcessorOptions>

export const processorTable = new OptionTable(processorRules)
const errors = new OptionErrors('processor()', InvalidOptionError)

const wrapper = fileURLToPath(wrapperUrl)

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
  const runner = new JobRunner(pool, processorTable.read(options, errors))
  // BullMQ gives a signal only to a function with three parameters.
  return (job, token, signal) => runner.process(job, token, signal)
}

export function checkPool(given: unknown, errors: OptionErrors): void {
  const isPool =
    typeof (given as Pool | null)?.run === 'function' && typeof (given as Pool).room === 'function'
  if (!isPool) errors.wrong('pool', given, 'a Pool of lido')
}

interface RunnerSettings {
  /** Of `serve()`. */
  readonly closeTimeout?: number
  readonly sandbox: boolean
  readonly maxValueBytes: number
}

export class JobRunner {
  readonly #pool: Pool<any, any>
  readonly #settings: RunnerSettings

  constructor(pool: Pool<any, any>, settings: RunnerSettings) {
    this.#pool = pool
    this.#settings = settings
  }

  /** Resolves to what BullMQ stores as the result. Rejects with an error that tells BullMQ what to do with the job. */
  async process(job: Job, token = '', signal?: AbortSignal): Promise<unknown> {
    repeatWrites(job, this.#settings.closeTimeout)
    try {
      return await this.#run(job, termsOfJob(job), token, signal)
    } catch (error) {
      throw await this.#settle(job, error, isOfRemotePool(job), token, signal)
    }
  }

  async #run(
    job: Job,
    terms: JobTerms | undefined,
    token: string,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { sandbox, maxValueBytes } = this.#settings
    const progress = new ProgressSender(job, terms === undefined ? null : maxValueBytes)
    const options: RunOptions = {
      signal,
      timeout: terms?.timeout,
      deadline: terms?.deadline,
      onProgress: value => progress.send(value),
      functions: functionsOf(job, sandbox),
    }
    if (sandbox) {
      const order: SandboxOrder = { sandboxJob: sandboxFields(job), token }
      return this.#encode(await runWrapped(this.#pool, order, options, wrapper), terms)
    }
    const { name } = job
    if (hookNames.includes(name)) {
      throw new InvalidTaskError(
        'name',
        `A job cannot call '${name}', because the pool calls this export itself. Give the handler another name.`,
      )
    }
    const facts = { id: job.id ?? '', name, attempt: job.attemptsMade + 1 }
    const runOne = (data: unknown, signal: AbortSignal | undefined) => {
      const input = terms === undefined ? data : decodeValue(data, 'payload', maxValueBytes)
      const isArgs = terms?.args === true
      const order: HandlerOrder = { job: facts, input: isArgs ? argumentsOf(input) : input, isArgs }
      return runWrapped(this.#pool, order, { ...options, name, signal }, wrapper)
    }
    if (terms?.items) return await this.#runItems(itemsOf(job.data), signal, runOne)
    const result = await runOne(job.data, signal)
    await progress.sent()
    return this.#encode(result, terms)
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
            if (both.aborted || outcome === 'give back') throw error
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
  async #settle(
    job: Job,
    error: unknown,
    isOurs: boolean,
    token: string,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const outcome = outcomeOf(error, signal)
    if (outcome.do === 'give back') {
      if (outcome.delayMs === 0) {
        await job.moveToWait(token)
        return new WaitingError()
      }
      await job.moveToDelayed(realClock.epochNow() + outcome.delayMs, token)
      return new DelayedError()
    }
    const stored = isOurs ? storableError(error) : error
    if (outcome.do === 'retry') return stored
    const { message, stack } = stored as Error
    const final = new UnrecoverableError(message)
    Object.defineProperty(final, 'stack', { value: stack, configurable: true, writable: true })
    return Object.assign(final, { cause: error })
  }
}

/** The tasks that the pool runs at once. */
export function slotsOf({ maxWorkers, options }: Pool<any, any>): number {
  return maxWorkers * options.concurrentTasksPerWorker
}

/** The methods of the job that a worker may call. */
function functionsOf(job: Job, isSandbox: boolean): RunOptions['functions'] {
  if (!isSandbox) return { [methodName('log')]: async (line: string) => void (await job.log(line)) }
  const methods = job as unknown as Record<string, (...args: unknown[]) => unknown>
  return Object.fromEntries(
    JOB_METHODS.map(method => [methodName(method), (...args) => methods[method]!(...args)]),
  )
}

/** The fields that BullMQ's own sandbox gives to its processors. */
function sandboxFields(job: Job): Record<string, unknown> {
  const { data, opts, returnvalue } = job
  return { ...job.asJSONSandbox(), data, opts, returnValue: returnvalue ?? {} }
}
