// The main entry point in an ES module, in strict TypeScript.
import {
  type ChunkOf,
  type CloseReport,
  type DurationSummary,
  FifoQueue,
  type FunctionOptions,
  type GroupOptions,
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
  type PoolStream,
  type PoolTransform,
  PriorityQueue,
  type QueuedTask,
  QueueFullError,
  type RoomOptions,
  type RunOptions,
  type SharedValue,
  type StreamOptions,
  share,
  TaskCancelledError,
  type TaskQueue,
  type WaitReason,
  WorkerError,
  WorkerExitError,
  WorkerStartError,
  type WorkerView,
} from 'lido'
import { isTrue, type Same } from './checks.mjs'
import type { Row } from './handler.mjs'

const filename = new URL('./handler.mjs', import.meta.url)

// The handler module defines the types of calls.
const typed = new Pool<typeof import('./handler.mjs')>({ filename })
// So does the function that imports it, without a type argument.
const imported = new Pool({ module: () => import('./handler.mjs'), base: import.meta.url })
isTrue<Same<typeof imported, typeof typed>>()
const inlineLoaded = new Pool({ backend: 'inline', module: await import('./handler.mjs') })
isTrue<Same<typeof inlineLoaded, typeof typed>>()
const fileOnly = new Pool({ filename })
isTrue<Same<typeof fileOnly, Pool>>()
isTrue<Same<Awaited<ReturnType<typeof imported.api.multiplied>>, number>>()
// @ts-expect-error the module has no such function
imported.api.missing(1)
// @ts-expect-error the payload is a row
imported.run('one')
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
// @ts-expect-error trimmed takes a string
typed.run(1, { name: 'trimmed' })
isTrue<Same<typeof date, Promise<Date>>>()
// @ts-expect-error the default handler takes a Row
typed.run()
// @ts-expect-error upper takes a string
typed.run(undefined, { name: 'upper' })
const either = 'upper' as 'upper' | 'trimmed'
const ofEither = typed.run('one', { name: either })
isTrue<Same<typeof ofEither, Promise<string>>>()
// @ts-expect-error upper takes no undefined
typed.run(undefined, { name: either })
const nameless = new Pool<{ upper(text: string): string }>({ filename })
// @ts-expect-error there is no default handler
nameless.run('one')
// @ts-expect-error there is no default handler without a payload either
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
// @ts-expect-error the function of the module takes a number
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
// @ts-expect-error now takes no payload
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
// @ts-expect-error the default handler takes a Row
typed.run('one', { name: undefined })
const limits: Omit<RunOptions, 'name'> = { timeout: 1 }
const limited = typed.run({ id: 1, text: 'one' }, limits)
isTrue<Same<typeof limited, Promise<number>>>()
const named: RunOptions = { timeout: 1 }
// @ts-expect-error RunOptions may hold any name
typed.run({ id: 1, text: 'one' }, named)
// @ts-expect-error a deadline is no text
typed.run({ id: 1, text: 'one' }, { deadline: 'tomorrow' })
// @ts-expect-error a signal is an AbortSignal
typed.run({ id: 1, text: 'one' }, { signal: 1 })

// The functions of the module take their own parameters.
const scaledTwice = typed.api.multiplied(2, 3)
isTrue<Same<typeof scaledTwice, Promise<number>>>()
const upperByApi = typed.with({ timeout: 5_000, signal: AbortSignal.timeout(10) }).api.upper('one')
isTrue<Same<typeof upperByApi, Promise<string>>>()
typed.api.scaled(2)
typed.api.default({ id: 1, text: 'one' })
// @ts-expect-error multiplied requires two arguments
typed.api.multiplied(2)
// @ts-expect-error upper takes a string
typed.api.upper(1)
// @ts-expect-error limit is no function
typed.api.limit
// @ts-expect-error there is no such function
typed.api.uper('one')
// @ts-expect-error the function has the name
typed.with({ name: 'upper' })

// An async function keeps its type parameters and its overloads.
const echoed = typed.api.echo({ id: 1 })
isTrue<Same<typeof echoed, Promise<{ id: number }>>>()
const sizeOfText = typed.with({ timeout: 10 }).api.sizeOf('one')
isTrue<Same<typeof sizeOfText, Promise<number>>>()
const sizeOfBytes = typed.api.sizeOf(new Uint8Array(8), 'kB')
isTrue<Same<typeof sizeOfBytes, Promise<string>>>()
// @ts-expect-error no overload takes a number
typed.api.sizeOf(1)
// Another generic function, and each one by its name, has the type that its parameter may have.
const box = typed.api.boxed(1)
isTrue<Same<typeof box, Promise<{ value: unknown }>>>()
const echoedByRun = typed.run(1, { name: 'echo' })
isTrue<Same<typeof echoedByRun, Promise<unknown>>>()
const member = typed.api.withMember(1)
isTrue<Same<typeof member, Promise<number>>>()
// @ts-expect-error the members of a function stay in the worker
typed.api.withMember.unit

// A map takes what can be iterated over, and gives the results of its function.
const broadcastResults: Promise<string[]> = typed.broadcast('one', { name: 'upper', alsoNew: true })
// @ts-expect-error The payload of `upper` is a string.
typed.broadcast(1, { name: 'upper' })
void broadcastResults
const lengths = typed.map([{ id: 1, text: 'one' }]).toArray()
isTrue<Same<typeof lengths, Promise<number[]>>>()
const awaitedMap = typed.map([{ id: 1, text: 'one' }])
isTrue<Same<Awaited<typeof awaitedMap>, number[]>>()
async function* texts(): AsyncGenerator<string> {
  yield 'one'
}
for await (const text of typed.map(texts(), { name: 'upper', concurrency: 4, ordered: false })) {
  isTrue<Same<typeof text, string>>()
}
const orNull = typed.map(['one'], {
  name: 'upper',
  onError: (_error, item: string) => [item, null].at(1) ?? null,
})
isTrue<Same<Awaited<ReturnType<typeof orNull.toArray>>, (string | null)[]>>()
const skipped = typed.map(new Set(['one']), { name: 'upper', onError: 'skip' }).toArray()
isTrue<Same<typeof skipped, Promise<string[]>>>()
// @ts-expect-error the default handler takes a Row
typed.map(['one'])
// @ts-expect-error a number cannot be iterated over
typed.map(5)

// A stream gives the chunks of its function.
for await (const n of typed.stream(3, { name: 'numbers', highWaterMark: 4 })) isTrue<Same<typeof n, number>>()
const wordStream = typed.stream('one two', { name: 'words' })
isTrue<Same<typeof wordStream, PoolStream<string>>>()
const allWords = wordStream.toArray()
isTrue<Same<typeof allWords, Promise<string[]>>>()
const streamOptions: Omit<StreamOptions, 'name'> = {
  highWaterMarkBytes: 1,
  functions: { lookup: (id: number) => id },
}
typed.stream(3, { ...streamOptions, name: 'numbers' })
// @ts-expect-error numbers takes a number
typed.stream('3', { name: 'numbers' })
// @ts-expect-error a stream cannot be retried
typed.stream(3, { name: 'numbers', retry: { attempts: 2 } })
// @ts-expect-error there is no such function
typed.stream(3, { name: 'number' })
// @ts-expect-error numbers takes a number
typed.stream(undefined, { name: 'numbers' })
// @ts-expect-error rows requires two arguments
typed.stream('one', { name: 'rows' })
// @ts-expect-error a water mark is a number
typed.stream(3, { name: 'numbers', highWaterMark: '4' })
// Each kind of stream that a handler may return.
const ofPromise = typed.stream(3, { name: 'laterNumbers' })
isTrue<Same<typeof ofPromise, PoolStream<number>>>()
const ofIterator = typed.stream(new Map([['one', 1]]), { name: 'valuesOf' })
isTrue<Same<typeof ofIterator, PoolStream<number>>>()
const ofWebStream = typed.stream(2, { name: 'pages' })
isTrue<Same<typeof ofWebStream, PoolStream<Row>>>()
const ofList = typed.stream(2, { name: 'list' })
isTrue<Same<typeof ofList, PoolStream<number>>>()
isTrue<Same<ChunkOf<typeof import('./handler.mjs'), 'words'>, string>>()
// A function whose result is no stream has no chunks. A string is a value.
const ofNumber = typed.stream({ id: 1, text: 'one' })
isTrue<Same<typeof ofNumber, PoolStream<never>>>()
const ofString = typed.stream('one', { name: 'upper' })
isTrue<Same<typeof ofString, PoolStream<never>>>()
const numbersByDefault = new Pool<typeof import('./handler.mjs'), 'numbers'>({ filename, name: 'numbers' })
const ofDefault = numbersByDefault.stream(3)
isTrue<Same<typeof ofDefault, PoolStream<number>>>()
const textLengths = typed.transform<string, number>({ name: 'lengths', transfer: true })
isTrue<Same<typeof textLengths, PoolTransform<string, number>>>()
const ofText: ReadableStream<number> = new ReadableStream<string>().pipeThrough(textLengths)
void ofText
// @ts-expect-error there is no such function
typed.transform({ name: 'length' })
// @ts-expect-error a transform has no payload
typed.transform({ name: 'lengths', transferList: [] })

// A generator of the module gives a promise that can be iterated.
for await (const word of typed.api.words('one two', ' ')) isTrue<Same<typeof word, string>>()
const streamOfNumbers = await typed.api.numbers(3)
isTrue<Same<typeof streamOfNumbers, PoolStream<number>>>()
// @ts-expect-error words takes a string
typed.api.words(1)
const laterByApi = await typed.with({ timeout: 5_000 }).api.laterNumbers(3)
isTrue<Same<typeof laterByApi, PoolStream<number>>>()
const valuesByApi = await typed.api.valuesOf(new Map())
isTrue<Same<typeof valuesByApi, PoolStream<number>>>()
const pagesByApi = await typed.api.pages(2)
isTrue<Same<typeof pagesByApi, PoolStream<Row>>>()
// @ts-expect-error rows requires two arguments
typed.api.rows('one')
// An array is a value.
const listByApi = typed.api.list(2)
isTrue<Same<typeof listByApi, Promise<number[]>>>()
// @ts-expect-error the call of a value cannot be iterated
for await (const _ of typed.api.upper('one')) break

// The handle of a shared value has the type of the value, so it fits into payloads.
const sharedRow = typed.share({ id: 1, text: 'one' })
const lengthOfShared = typed.run(sharedRow)
isTrue<Same<typeof lengthOfShared, Promise<number>>>()
const released: SharedValue = share(new Map([['one', 1]]))
released.release()
export function shareInABlock(): void {
  using table = share(new Map([['one', 1]]))
  table.get('one')?.toFixed()
}
// @ts-expect-error a Row has a text
typed.run(share({ id: 1 }))

// Without a module type, calls accept and return any value.
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
  output: 'pipe',
  closeTimeout: 1000,
  queue: new FifoQueue(),
  recordTiming: false,
  transport: 'messages',
  busyWait: false,
  maxWorkerMemoryMb: 256,
  setupTimeout: 10_000,
  workerHistogram: true,
}
new Pool(options)
new Pool()
isTrue<Same<ConstructorParameters<typeof Pool>['length'], 0 | 1>>()
// @ts-expect-error the option is called maxWorkers
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

// A program can tell errors apart by class or by code.
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

// A custom queue and a custom load balancer.
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

/** A subclass of a queue of the package. Its inferred types have names that a program can import. */
export class ByUrgency extends FifoQueue {
  readonly urgent = new PriorityQueue()

  override shift() {
    return this.urgent.shift() ?? super.shift()
  }
}

export class Scheduled extends PriorityQueue {
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
for (const queue of [new Scheduled(), new PriorityQueue(), new FifoQueue()]) new Pool({ filename, queue })
// @ts-expect-error a queue has remove()
new Pool({ filename, queue: { size: 0, push() {}, shift: () => null } })
// @ts-expect-error a balancer answers with a worker
new Pool({ filename, loadBalancer: () => 1 })

// Order, keys and groups.
const ordered: PoolOptions = { filename, aging: 10_000, groups: { limit: 2, weight: group => group.length } }
isTrue<Same<PoolSettings['groups'], GroupOptions | undefined>>()
typed.run({ id: 1, text: 'one' }, { key: 'document', keyOrder: 'none', group: 'tenant' })
typed.with({ key: 'document', group: 'tenant' }).api.upper('one')
typed.stream({ id: 1, text: 'one' }, { key: 'document' })
typed.map([{ id: 1, text: 'one' }], {
  key: (row, index) => `${row.text} ${index}`,
  group: row => row.text,
  keyOrder: 'serial',
})
typed.map([{ id: 1, text: 'one' }], { key: 'document', group: 'tenant', itemsPerTask: 'auto' })
typed.map(['one'], { name: 'upper', itemsPerTask: 100 })
new PriorityQueue({ aging: 1_000 })
for (const { group, size, running, waitP99Ms, share } of new Pool(ordered).stats().groups) {
  isTrue<Same<typeof group, string>>()
  console.log(size + running, waitP99Ms?.toFixed(), share?.toFixed())
}
const busyKey: WaitReason = 'key'
const fullGroup: WaitReason = 'group limit'
// @ts-expect-error a key is a string
typed.run({ id: 1, text: 'one' }, { key: 1 })
// @ts-expect-error there is no such order
typed.run({ id: 1, text: 'one' }, { key: 'document', keyOrder: 'parallel' })
// @ts-expect-error only the items of a map have functions
typed.run({ id: 1, text: 'one' }, { key: () => 'document' })
// @ts-expect-error a key is a string
typed.map([{ id: 1, text: 'one' }], { key: row => row.id })
// @ts-expect-error a number, or 'auto'
typed.map(['one'], { name: 'upper', itemsPerTask: 'all' })
// @ts-expect-error only maps pack items
typed.run({ id: 1, text: 'one' }, { itemsPerTask: 2 })
// @ts-expect-error a weight is a number
new Pool({ filename, groups: { weight: () => 'heavy' } })
// @ts-expect-error there is no such option
new Pool({ filename, groups: { limits: 2 } })
// @ts-expect-error milliseconds
new PriorityQueue({ aging: '1s' })
console.log(busyKey, fullGroup)

// A moved value keeps its type.
const ownBytes = new Uint8Array(8)
const bytes = move(ownBytes)
isTrue<Same<typeof bytes, typeof ownBytes>>()

// The other members.
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

/** A program with declaration files exports the statistics of a pool. */
export class Health {
  readonly #pool = new Pool()

  figures() {
    const { state, tasks, workers, transportReason } = this.#pool.stats()
    return { state, tasks, workers, transportReason }
  }
}

// Functions that are sent as text: the parameters and the result are those of the function.
const power = typed.call((base: number, exponent: number) => base ** exponent, 2, 10)
isTrue<Same<typeof power, Promise<number>>>()
// Parameters without types may be anything.
typed.call((one, other) => one.length + other, 'one', 2)
const awaited = typed.call(async (text: string, times = 2) => text.repeat(times), 'one')
isTrue<Same<typeof awaited, Promise<string>>>()
const eitherResult = typed.call((size: number) => size > 1, 2)
isTrue<Same<typeof eitherResult, Promise<boolean>>>()
const withOptions = typed.call(
  { timeout: 10, signal: AbortSignal.timeout(10) },
  (...all: number[]) => all,
  1,
  2,
)
isTrue<Same<typeof withOptions, Promise<number[]>>>()
const never = typed.call(() => {
  throw new Error('always')
})
isTrue<Same<typeof never, Promise<never>>>()
const anyResult = new Pool().call(JSON.parse as (text: string) => any, '1')
isTrue<Same<typeof anyResult, Promise<any>>>()
const counted = typed.call(function* (to: number) {
  for (let n = 0; n < to; n++) yield n
}, 2)
const countedStream: PoolStream<number> = await counted
for await (const n of counted) isTrue<Same<typeof n, number>>()
const callOptions: FunctionOptions = { priority: 1 }
// @ts-expect-error the first parameter is a number
typed.call((base: number) => base, 'one')
// @ts-expect-error an argument is missing
typed.call((base: number, exponent: number) => base ** exponent, 2)
// @ts-expect-error there is no second parameter
typed.call((base: number) => base, 1, 2)
// @ts-expect-error the function is named by run()
typed.call({ name: 'upper' }, (text: string) => text, 'one')
// @ts-expect-error a text is no function
typed.call('upper', 'one')
void [countedStream, callOptions]
