// A map: runs one task for each item of an input and gives the results as an async iterable. The number of items between the input
// and the consumer is limited, so endless input needs a fixed amount of memory. Whose tasks they are is the matter of its runner.

import type { PoolMap } from '../../api/results.js'
import {
  PoolClosedError,
  type PoolError,
  RestartLimitError,
  TaskCancelledError,
  WorkerStartError,
} from '../../shared/errors/pool-errors.js'
import { AsyncContext } from '../../shared/platform/async-context.js'
import type { Clock } from '../../shared/platform/clock.js'
import { inMicrotask } from '../../shared/platform/microtask.js'
import { Rejection } from '../task/rejection.js'
import { SignalWatch } from '../task/signal-watch.js'
import { type MapItem, MapItems } from './map-items.js'
import type { MapSettings } from './map-options.js'
import { END, isThenable, ResultIterator } from './result-iterator.js'
import { watchUnread } from './unread-maps.js'

/** What a map needs of its pool. `Task` is what the pool makes of an item. */
export interface MapRunner<Task> {
  /** The time, and the timers of the map. */
  readonly clock: Clock
  /** How many items run at once. Without the option `concurrency`, 2 to 64 times as many are under way. */
  readonly slots: number
  /** The map waits for `room()` before it submits an item. */
  readonly hasQueueLimit: boolean
  /** In place of the limit by slots. Changes while the map runs. */
  readonly itemLimit?: number | undefined
  /** The map reads a slow input in several turns of the event loop, unless the caller gave `concurrency`. */
  readonly mayPause?: boolean
  /** The map pulls so many items at once where it can. Missing: 1. */
  readonly itemsPerTask?: number
  /** Resolves when the queue accepts one more task. */
  room(): Promise<void>
  /** Settles the item once. Throws when the pool takes no task. */
  submit(item: SubmittedItem, onProgress: ((value: unknown) => void) | null): Task
  /** The input has ended, so no item waits for others. */
  onInputEnd?(): void
  /** Called for each item that is not settled, when the map ends. The map submits nothing more then. */
  cancel(task: Task, error: PoolError): void
}

/** An item for a runner. */
export interface SubmittedItem {
  /** The item of the input. */
  readonly item: unknown
  /** The number of the item, from 0. */
  readonly index: number
  /** Takes the result, or a `Rejection`. */
  settle(answer: unknown): void
}

interface Consumer {
  resolve(result: IteratorResult<unknown, undefined>): void
  reject(error: unknown): void
}

type Input = Iterator<unknown> | AsyncIterator<unknown>

const PROGRESS_INTERVAL_MS = 100
/** Without the option `concurrency`: items under way for each slot, at the start and at most. */
const LEAST_PER_SLOT = 2
const MOST_PER_SLOT = 64
/** A slow input is read for so long, with a look at the clock after so many items. Then the event loop turns. */
const READ_MS = 5
const UNTIMED_ITEMS = 16

/** The map of one call. */
export class MapRun<Result, Task> extends ResultIterator<Result> implements PoolMap<Result> {
  /** All maps of the program share one listener for each signal. Node warns about more than ten listeners. */
  static readonly #signals = new SignalWatch<MapRun<any, any>>(maps => {
    for (const map of [...maps]) {
      map.#fail(new TaskCancelledError(map.#settings.signal!.reason))
      map.#items.clear()
    }
  })

  readonly #source: Iterable<unknown> | AsyncIterable<unknown>
  readonly #settings: MapSettings
  readonly #runner: MapRunner<Task>
  /** The program's functions are called in the context of the call of `map()`. */
  readonly #context = new AsyncContext('lido.map')
  readonly #consumers: Consumer[] = []
  readonly #onRead: () => void
  /** All results, for callers that await the map. */
  #array: Promise<Result[]> | null = null
  #state: 'new' | 'open' | 'ended' = 'new'
  /** The next consumer gets it. */
  #failure: { error: unknown } | null = null
  #input: Input | null = null
  /** The error of the input. The map rejects with it after the last result. */
  #inputFailure: { error: unknown } | null = null
  #isInputPending = false
  #isInputDone = false
  #isFilling = false
  /** The event loop turns before the map reads on. */
  #isPaused = false

  readonly #items: MapItems<Task>
  #limit: number

  #pulled = 0
  #done = 0
  #failed = 0
  #answered: MapItem<Task>[] = []
  #startedAt = 0
  #reportedAt = 0
  /** Items that were done or failed at the last report. */
  #reportedItems = -1

  constructor(
    source: Iterable<unknown> | AsyncIterable<unknown>,
    settings: MapSettings,
    runner: MapRunner<Task>,
  ) {
    super()
    this.#source = source
    this.#settings = settings
    this.#items = new MapItems<Task>(settings.ordered, (entry, answer) => this.#onAnswer(entry, answer))
    this.#runner = runner
    this.#limit = settings.concurrency ?? runner.slots * LEAST_PER_SLOT
    this.#onRead = watchUnread(this)
  }

  next(): Promise<IteratorResult<Result, undefined>> {
    if (this.#state === 'new') this.#start()
    const entry = this.#consumers.length === 0 ? this.#items.take() : null
    if (entry !== null) {
      this.#onTaken()
      return Promise.resolve({ value: entry.value as Result, done: false })
    }
    if (this.#state === 'ended') return this.#takeEnd()
    return new Promise((resolve, reject) => {
      this.#consumers.push({ resolve: resolve as Consumer['resolve'], reject })
    })
  }

  async return(): Promise<IteratorResult<Result, undefined>> {
    this.#failure = this.#inputFailure = null
    this.#onRead()
    const closed = this.#state === 'ended' ? undefined : this.#end()
    this.#items.clear()
    await closed
    return END
  }

  then<Fulfilled = Result[], Rejected = never>(
    onFulfilled?: ((results: Result[]) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: any) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.#array ??= this.toArray()
    return this.#array.then(onFulfilled, onRejected)
  }

  /** Takes all results that are ready, without a promise for each. */
  override async toArray(): Promise<Result[]> {
    const results: Result[] = []
    for await (const result of this) {
      results.push(result)
      for (let entry = this.#items.take(); entry !== null; entry = this.#items.take()) {
        results.push(entry.value as Result)
        this.#onTaken()
      }
    }
    return results
  }

  /** The consumer has taken a result. */
  #onTaken(): void {
    if (this.#room >= (this.#runner.itemsPerTask ?? 1)) this.#fill()
    this.#endIfDone()
  }

  // The input.

  #start(): void {
    const { signal } = this.#settings
    this.#onRead()
    this.#state = 'open'
    this.#startedAt = this.#reportedAt = this.#runner.clock.now()
    if (signal?.aborted) return this.#fail(new TaskCancelledError(signal.reason))
    if (signal !== null) MapRun.#signals.watch(signal, this)
    try {
      this.#input = this.#context.run(() => iteratorOf(this.#source))
    } catch (error) {
      return this.#fail(error)
    }
    this.#fill()
  }

  #fill(): void {
    if (this.#isFilling || this.#isPaused || this.#isInputPending || this.#room <= 0) return
    if (this.#state !== 'open' || this.#isInputDone) return
    this.#isFilling = true
    this.#context.run(() => this.#read())
    this.#isFilling = false
  }

  #read(): void {
    const { clock, mayPause = false } = this.#runner
    const isTimed = mayPause && this.#settings.concurrency === undefined && this.#room > UNTIMED_ITEMS
    const startedAt = isTimed ? clock.now() : 0
    let untimed = 0
    while (this.#state === 'open' && !this.#isInputPending && !this.#isInputDone && this.#room > 0) {
      this.#pull()
      if (!isTimed || ++untimed < UNTIMED_ITEMS) continue
      untimed = 0
      if (clock.now() - startedAt < READ_MS) continue
      this.#isPaused = true
      clock.nextTurn(() => {
        this.#isPaused = false
        this.#fill()
      })
      return
    }
  }

  /** How many more items the map may pull. */
  get #room(): number {
    return (this.#settings.concurrency ?? this.#runner.itemLimit ?? this.#limit) - this.#items.size
  }

  #pull(): void {
    let step: IteratorResult<unknown> | Promise<IteratorResult<unknown>>
    try {
      step = this.#input!.next()
    } catch (error) {
      return this.#failByInput(error)
    }
    if (!isThenable(step)) return this.#onStep(step)
    this.#await(
      step as Promise<IteratorResult<unknown>>,
      given => this.#onStep(given),
      error => this.#failByInput(error),
    )
  }

  #onStep(step: IteratorResult<unknown>): void {
    if (step === null || typeof step !== 'object') {
      return this.#failByInput(
        new TypeError(`The input of map() gave ${String(step)} in place of { value, done }.`),
      )
    }
    if (step.done === true) {
      this.#isInputDone = true
      this.#runner.onInputEnd?.()
      return this.#endIfDone()
    }
    if (isThenable(step.value)) {
      return this.#await(step.value as Promise<unknown>, item => this.#onItem(item))
    }
    this.#onItem(step.value)
  }

  /** Pulls nothing more until the promise is settled. */
  #await<T>(
    promise: PromiseLike<T>,
    use: (given: T) => void,
    onError = (error: unknown) => this.#fail(error),
  ): void {
    this.#isInputPending = true
    promise.then(
      given => {
        this.#isInputPending = false
        if (this.#state !== 'open') return
        this.#context.run(() => use(given))
        this.#fill()
      },
      error => {
        this.#isInputPending = false
        onError(error)
      },
    )
  }

  /** An iterator that threw has ended. The items before the error still give their results. */
  #failByInput(error: unknown): void {
    this.#isInputDone = true
    this.#inputFailure = { error }
    this.#endIfDone()
  }

  #onItem(item: unknown): void {
    const entry = this.#items.add(item, this.#pulled++)
    if (this.#runner.hasQueueLimit) this.#await(this.#runner.room(), () => this.#submit(entry))
    else this.#submit(entry)
  }

  #submit(entry: MapItem<Task>): void {
    try {
      const onProgress =
        this.#settings.onItemProgress === undefined
          ? null
          : (value: unknown) => this.#onItemProgress(entry, value)
      const task = this.#runner.submit(entry, onProgress)
      if (entry.state === 'running') entry.task = task
    } catch (error) {
      this.#onAnswer(entry, new Rejection(error))
    }
  }

  #onItemProgress({ item, index }: MapItem<Task>, value: unknown): void {
    if (this.#state !== 'open') return
    try {
      this.#context.run(() => this.#settings.onItemProgress!(value, item, index))
    } catch (error) {
      inMicrotask(() => this.#fail(error))
    }
  }

  // Results.

  /** The pool is in the middle of its work, so the answers of one turn are handled together in a microtask. */
  #onAnswer(entry: MapItem<Task>, answer: unknown): void {
    entry.state = 'answered'
    entry.task = null
    entry.value = answer
    if (this.#answered.push(entry) === 1) inMicrotask(() => this.#advance())
  }

  #advance(): void {
    const entries = this.#answered
    this.#answered = []
    for (const entry of entries) {
      if (this.#state !== 'open') return
      const answer = entry.value
      if (answer instanceof Rejection) this.#onFailed(entry, answer.reason)
      else {
        this.#done++
        this.#onReady(entry, answer)
      }
    }
    this.#adapt(entries.length)
    this.#report(false)
    this.#goOn()
  }

  /** Gives results that are ready to waiting consumers, and pulls as many items. */
  #goOn(): void {
    if (this.#state !== 'open') return
    this.#serve()
    this.#fill()
    this.#endIfDone()
  }

  #onFailed(entry: MapItem<Task>, error: unknown): void {
    this.#failed++
    const { onError } = this.#settings
    if (onError === 'stop' || concernsThePool(error)) return this.#fail(error)
    if (onError === 'skip') return this.#items.skip(entry)
    let value: unknown
    try {
      value = this.#context.run(() => onError(error, entry.item, entry.index))
    } catch (failure) {
      return this.#fail(failure)
    }
    if (!isThenable(value)) return this.#onReady(entry, value)
    value.then(
      replacement => {
        this.#onReady(entry, replacement)
        this.#goOn()
      },
      failure => this.#fail(failure),
    )
  }

  #onReady(entry: MapItem<Task>, value: unknown): void {
    if (this.#state !== 'open') return
    this.#items.setResult(entry, value)
  }

  /** When more than half of the items ended within one turn, workers were idle until the host could send them more. */
  #adapt(settled: number): void {
    if (this.#settings.concurrency !== undefined || settled * 2 <= this.#limit) return
    this.#limit = Math.min(this.#limit * 2, this.#runner.slots * MOST_PER_SLOT)
  }

  #serve(): void {
    while (this.#consumers.length > 0) {
      const entry = this.#items.take()
      if (entry === null) return
      this.#consumers.shift()!.resolve({ value: entry.value, done: false })
    }
  }

  // The end.

  #endIfDone(): void {
    if (this.#state !== 'open' || !this.#isInputDone || this.#items.size > 0) return
    this.#failure = this.#inputFailure
    void this.#end()
  }

  #fail(error: unknown): void {
    if (this.#state === 'ended') return
    this.#failure = { error }
    void this.#end()
  }

  /** Returns the promise of the input's `return()`, where the input is not done. */
  #end(): Promise<unknown> | undefined {
    const wasOpen = this.#state === 'open'
    this.#state = 'ended'
    const { signal } = this.#settings
    if (signal !== null) MapRun.#signals.unwatch(signal, this)
    this.#cancelTasks()
    const closed = this.#closeInput()
    if (wasOpen) this.#report(true)
    this.#serve()
    for (const { resolve, reject } of this.#consumers.splice(0)) this.#takeEnd().then(resolve, reject)
    return closed
  }

  #cancelTasks(): void {
    for (const task of this.#items.runningTasks()) {
      this.#runner.cancel(task, new TaskCancelledError(this.#failure?.error))
    }
    this.#items.dropUnfinished()
  }

  #closeInput(): Promise<unknown> | undefined {
    const input = this.#input
    if (input === null || this.#isInputDone || input.return === undefined) return undefined
    this.#isInputDone = true
    let closed: unknown
    try {
      closed = this.#context.run(() => input.return!())
    } catch (error) {
      closed = Promise.reject(error)
    }
    // A generator that still waits for its next item answers only after that, which may be never.
    const promise = Promise.resolve(closed)
    promise.catch(() => {})
    return this.#isInputPending || this.#failure !== null ? undefined : promise
  }

  #takeEnd(): Promise<IteratorReturnResult<undefined>> {
    if (this.#failure === null) return Promise.resolve(END)
    const { error } = this.#failure
    this.#failure = null
    return Promise.reject(error)
  }

  #report(isFinal: boolean): void {
    const { onProgress } = this.#settings
    if (onProgress === undefined) return
    const now = this.#runner.clock.now()
    const settled = this.#done + this.#failed
    if (isFinal && settled === this.#reportedItems) return
    if (!isFinal && now - this.#reportedAt < PROGRESS_INTERVAL_MS) return
    this.#reportedAt = now
    this.#reportedItems = settled
    const perSecond = settled === 0 ? 0 : (settled * 1000) / Math.max(now - this.#startedAt, 1)
    const total = lengthOf(this.#source)
    const remainingMs =
      total === undefined || settled === 0 ? undefined : (Math.max(total - settled, 0) * 1000) / perSecond
    try {
      this.#context.run(() =>
        onProgress({ done: this.#done, failed: this.#failed, total, perSecond, remainingMs }),
      )
    } catch (error) {
      if (isFinal) this.#failure ??= { error }
      else this.#fail(error)
    }
  }
}

/** Errors after which no further item can run. */
function concernsThePool(error: unknown): boolean {
  return (
    error instanceof PoolClosedError ||
    error instanceof RestartLimitError ||
    error instanceof WorkerStartError
  )
}

function iteratorOf(source: Iterable<unknown> | AsyncIterable<unknown>): Input {
  const sync = source as Iterable<unknown>
  const async = source as AsyncIterable<unknown>
  return typeof async[Symbol.asyncIterator] === 'function'
    ? async[Symbol.asyncIterator]()
    : sync[Symbol.iterator]()
}

export function lengthOf(source: object): number | undefined {
  if (Array.isArray(source) || ArrayBuffer.isView(source)) return (source as Uint8Array).length
  return source instanceof Set || source instanceof Map ? source.size : undefined
}
