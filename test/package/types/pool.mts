// The front door as a strict TypeScript program sees it, from an ES module.
import {
  type CloseReport,
  type DurationSummary,
  FifoQueue,
  FixedQueue,
  InvalidOptionError,
  isPoolError,
  type LoadBalancer,
  move,
  NotCloneableError,
  Pool,
  PoolClosedError,
  type PoolError,
  type PoolEvents,
  type PoolOptions,
  type PoolSettings,
  type PoolStats,
  PriorityQueue,
  type QueuedTask,
  QueueFullError,
  type RoomOptions,
  type RunOptions,
  TaskCancelledError,
  type TaskQueue,
  WorkerError,
  WorkerExitError,
  WorkerStartError,
  type WorkerView,
} from 'lido'
import { isTrue, type Same } from './checks.mjs'

const filename = new URL('./handler.mjs', import.meta.url)

// Calls are typed by the handler's module.
const typed = new Pool<typeof import('./handler.mjs')>({ filename })
const lengthOfRow = typed.run({ id: 1, text: 'one' })
isTrue<Same<typeof lengthOfRow, Promise<number>>>()
const upperCased = typed.run('one', { name: 'upper' })
isTrue<Same<typeof upperCased, Promise<string>>>()
const date = typed.run(undefined, { name: 'now' })
typed.run(2, { name: 'scaled' })
// @ts-expect-error a handler gets one argument, and multiplied requires two
typed.run(2, { name: 'multiplied' })
typed.run(' one ', { name: 'trimmed' })
typed.run(undefined, { name: 'trimmed' })
// @ts-expect-error it takes a string
typed.run(1, { name: 'trimmed' })
isTrue<Same<typeof date, Promise<Date>>>()
// @ts-expect-error the default handler takes a Row
typed.run()
// @ts-expect-error upper takes a string
typed.run(undefined, { name: 'upper' })
const either = 'upper' as 'upper' | 'trimmed'
const ofEither = typed.run('one', { name: either })
isTrue<Same<typeof ofEither, Promise<string>>>()
// @ts-expect-error one of the two takes no undefined
typed.run(undefined, { name: either })
const nameless = new Pool<{ upper(text: string): string }>({ filename })
// @ts-expect-error there is no default handler
nameless.run('one')
// @ts-expect-error nor one without a payload
nameless.run()
const upperByDefault = new Pool<typeof import('./handler.mjs'), 'upper'>({ filename, name: 'upper' })
const byDefault = upperByDefault.run('one')
isTrue<Same<typeof byDefault, Promise<string>>>()
// @ts-expect-error upper takes a string
upperByDefault.run({ id: 1, text: 'one' })
const nowByDefault = new Pool<typeof import('./handler.mjs'), 'now'>({ filename, name: 'now' })
const today = nowByDefault.run()
isTrue<Same<typeof today, Promise<Date>>>()
// @ts-expect-error there is no such function
new Pool<typeof import('./handler.mjs'), 'uper'>({ filename })
// A CommonJS module that is a function, with another as its member.
const both = new Pool<((size: number) => string) & { upper(text: string): boolean }>({ filename })
const ofModule = both.run(1, { timeout: 1 })
isTrue<Same<typeof ofModule, Promise<string>>>()
const ofMember = both.run('one', { name: 'upper' })
isTrue<Same<typeof ofMember, Promise<boolean>>>()
// @ts-expect-error it takes a number
both.run('one')
const explicit = typed.run(
  { id: 1, text: 'one' },
  { name: 'default', signal: AbortSignal.timeout(10), priority: 1 },
)
isTrue<Same<typeof explicit, Promise<number>>>()
// @ts-expect-error the default handler takes a Row
typed.run('one')
// @ts-expect-error a Row has a text
typed.run({ id: 1 })
// @ts-expect-error upper takes a string
typed.run(1, { name: 'upper' })
// @ts-expect-error now takes nothing
typed.run(1, { name: 'now' })
// @ts-expect-error there is no such function
typed.run(1, { name: 'uper' })
// @ts-expect-error limit is no function
typed.run(1, { name: 'limit' })
// @ts-expect-error runs have no such option
typed.run({ id: 1, text: 'one' }, { prioritee: 1 })
typed.run({ id: 1, text: 'one' }, { timeout: 1, queueTimeout: 2, deadline: new Date(), exclusive: true })
typed.run({ id: 1, text: 'one' }, { deadline: Date.now() + 1000 })
const unnamed = typed.run({ id: 1, text: 'one' }, { name: undefined })
isTrue<Same<typeof unnamed, Promise<number>>>()
// @ts-expect-error without a name it is the default handler, which takes a Row
typed.run('one', { name: undefined })
const limits: Omit<RunOptions, 'name'> = { timeout: 1 }
const limited = typed.run({ id: 1, text: 'one' }, limits)
isTrue<Same<typeof limited, Promise<number>>>()
const named: RunOptions = { timeout: 1 }
// @ts-expect-error any name may be in it
typed.run({ id: 1, text: 'one' }, named)
// @ts-expect-error a deadline is no text
typed.run({ id: 1, text: 'one' }, { deadline: 'tomorrow' })
// @ts-expect-error a signal is an AbortSignal
typed.run({ id: 1, text: 'one' }, { signal: 1 })

// Without a module, everything goes.
const untyped = new Pool({ filename })
const anything = untyped.run({ what: 'ever' }, { name: 'anything' })
isTrue<Same<typeof anything, Promise<any>>>()
isTrue<Same<Awaited<ReturnType<Pool['run']>>, any>>()

// Options are checked as they are written.
const options: PoolOptions = {
  filename: '/handler.js',
  name: 'default',
  label: 'images',
  minWorkers: 0,
  maxWorkers: 4,
  idleTimeout: Number.POSITIVE_INFINITY,
  maxQueue: 'auto',
  concurrentTasksPerWorker: 2,
  resourceLimits: { maxOldGenerationSizeMb: 64 },
  env: process.env,
  argv: ['--verbose'],
  execArgv: [],
  workerData: { any: 'thing' },
  niceIncrement: 1,
  trackUnmanagedFds: false,
  closeTimeout: 1000,
  queue: new FifoQueue(),
  recordTiming: false,
  transport: 'messages',
  busyWait: false,
  maxWorkerMemoryMb: 256,
  workerHistogram: true,
}
new Pool(options)
new Pool()
isTrue<Same<ConstructorParameters<typeof Pool>['length'], 0 | 1>>()
// @ts-expect-error it is maxWorkers
new Pool({ maxWorker: 4 })
// @ts-expect-error a number
new Pool({ maxWorkers: '4' })
// @ts-expect-error 'shared-memory' or 'messages'
new Pool({ transport: 'lane' })
// @ts-expect-error a number or 'auto'
new Pool({ maxQueue: 'Auto' })
// @ts-expect-error a file
new Pool({ filename: 4 })

// Events carry their arguments.
typed.on('message', (value, worker) => {
  isTrue<Same<typeof worker, WorkerView>>()
  return value
})
typed.once('workerCreate', worker => worker.threadId.toFixed())
typed.off('drain', () => {})
typed.on('error', error => {
  isTrue<Same<typeof error, PoolEvents['error'][0]>>()
})
isTrue<
  Same<
    keyof PoolEvents,
    'drain' | 'needsDrain' | 'error' | 'message' | 'workerCreate' | 'workerDestroy' | 'close'
  >
>()

// Errors are told apart by class or by code.
export async function report(pool: Pool): Promise<string> {
  try {
    await pool.run(1)
    return 'done'
  } catch (error) {
    if (!isPoolError(error)) throw error
    isTrue<Same<typeof error, PoolError>>()
    if (error instanceof QueueFullError) return error.limit.toFixed()
    if (error instanceof PoolClosedError) {
      isTrue<Same<typeof error.reason, 'closed' | 'forced' | 'timeout' | 'destroyed'>>()
      return error.reason
    }
    if (error instanceof InvalidOptionError) return error.option
    if (error instanceof NotCloneableError) return error.path
    if (error instanceof TaskCancelledError) return String(error.reason)
    if (error instanceof WorkerExitError) return error.exitCode.toFixed()
    if (error instanceof WorkerStartError) return `${error.filename} ${error.handlerName} ${error.stage}`
    if (error instanceof WorkerError) return error.workerId.toFixed()
    return error.code
  }
}

// A pool that closes with its block.
export async function inABlock(): Promise<number> {
  await using pool = new Pool<typeof import('./handler.mjs')>({ filename })
  return await pool.run({ id: 1, text: 'one' })
}

// A queue and a balancer of one's own.
class Stack implements TaskQueue {
  readonly #tasks: QueuedTask[] = []

  get size(): number {
    return this.#tasks.length
  }

  push(task: QueuedTask): void {
    this.#tasks.push(task)
  }

  shift(): QueuedTask | null {
    return this.#tasks.pop() ?? null
  }

  remove(task: QueuedTask): void {
    const index = this.#tasks.indexOf(task)
    if (index >= 0) this.#tasks.splice(index, 1)
  }
}

/** Made of the package's own; what is inferred of it has names that a program can reach. */
export class ByUrgency extends FifoQueue {
  readonly urgent = new PriorityQueue()

  override shift() {
    return this.urgent.shift() ?? super.shift()
  }
}

export class Scheduled extends FixedQueue {
  override shift(): QueuedTask | null {
    return super.shift()
  }
}

const leastUsed: LoadBalancer = (task, workers) => {
  isTrue<Same<typeof task, QueuedTask>>()
  isTrue<Same<typeof workers, WorkerView[]>>()
  return workers.toSorted((one, other) => one.usage - other.usage)[0]
}
new Pool({ filename, queue: new Stack(), loadBalancer: leastUsed })
new Pool({ filename, loadBalancer: (task, workers) => (task.priority > 0 ? workers[0] : null) })
for (const queue of [new FixedQueue(10), new PriorityQueue(), new FifoQueue()]) new Pool({ filename, queue })
// @ts-expect-error a queue has remove()
new Pool({ filename, queue: { size: 0, push() {}, shift: () => null } })
// @ts-expect-error a balancer answers with a worker
new Pool({ filename, loadBalancer: () => 1 })

// What is moved keeps its type.
const bytes = move(new Uint8Array(8))
isTrue<Same<typeof bytes, Uint8Array<ArrayBuffer>>>()

// The rest of the surface.
export async function look(pool: Pool): Promise<CloseReport> {
  const run: RunOptions = { transferList: [new ArrayBuffer(8)], queueOptions: { tenant: 1 }, filename }
  await pool.room({ signal: AbortSignal.timeout(10) })
  await pool.run(new ArrayBuffer(8), run)
  const stats: PoolStats = pool.stats()
  pool.resize({ minWorkers: 1, maxWorkers: 2 })
  const settings: PoolSettings = pool.options
  const {
    label,
    restart,
    filename: file,
  }: { label: string; restart: { failures: number }; filename: string | undefined } = settings
  // @ts-expect-error read-only
  settings.label = `${label} ${restart.failures} ${file}`
  const waitTime: DurationSummary | undefined = pool.histogram.waitTime
  waitTime?.percentile(99).toFixed(stats.tasks.waiting + settings.maxWorkers)
  for (const worker of pool.workers) await worker.terminate()
  await pool.destroy()
  return await pool.close({ force: true })
}

export class Patient extends Pool {
  override room(options?: RoomOptions): Promise<void> {
    return super.room(options)
  }
}

/** What is told of a pool, handed on by a program that writes declarations. */
export class Health {
  readonly #pool = new Pool()

  figures() {
    const { state, tasks, workers, transportReason } = this.#pool.stats()
    return { state, tasks, workers, transportReason }
  }
}
