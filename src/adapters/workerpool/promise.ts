// The promises of workerpool: they can be cancelled, and have a time limit. Like those of workerpool, they never cause an
// unhandled rejection.
import { realClock, type Timer } from '../../kit.js'

const NativePromise = Promise

export class CancellationError extends Error {
  constructor(message = 'promise cancelled') {
    super(message)
  }
}

export class TimeoutError extends Error {
  constructor(message = 'timeout exceeded') {
    super(message)
  }
}

for (const errorClass of [CancellationError, TimeoutError])
  Object.defineProperty(errorClass.prototype, 'name', { value: errorClass.name })

/** A promise with the functions that settle it. */
export interface Resolver<T = any> {
  promise: WorkerpoolPromise<T>
  resolve: (value: T | PromiseLike<T>) => void
  reject: (reason: unknown) => void
}

type Executor<T> = (resolve: (value: T | PromiseLike<T>) => void, reject: (reason?: any) => void) => void
type Handler<T, R> = ((value: T) => R | PromiseLike<R>) | null | undefined

/** A promise that can be cancelled. */
export class WorkerpoolPromise<T = any> extends Promise<T> {
  static readonly CancellationError: typeof CancellationError = CancellationError
  static readonly TimeoutError: typeof TimeoutError = TimeoutError

  static override get [Symbol.species](): PromiseConstructor {
    return NativePromise
  }

  static defer<T = any>(): Resolver<T> {
    const resolver = {} as Resolver<T>
    resolver.promise = new WorkerpoolPromise<T>((resolve, reject) => {
      resolver.resolve = resolve
      resolver.reject = reject
    })
    return resolver
  }

  resolved = false
  rejected = false
  pending = true
  readonly #parent: WorkerpoolPromise<any> | undefined
  #reject!: (reason: unknown) => void
  #timer: Timer | null = null
  #runTime = () => Number.POSITIVE_INFINITY

  /** @param parent gets the calls of `cancel()` and `timeout()` */
  constructor(executor: Executor<T>, parent?: WorkerpoolPromise<any>) {
    // The executor runs before the fields exist, and may settle the promise at once.
    let settle: ((isResolved: boolean) => void) | undefined
    let settledEarly: boolean | undefined
    let rejectThis!: (reason: unknown) => void
    const onSettled = (isResolved: boolean) => {
      if (settle !== undefined) settle(isResolved)
      else settledEarly ??= isResolved
    }
    super((resolve, reject) => {
      rejectThis = reason => {
        reject(reason)
        onSettled(false)
      }
      executor(value => {
        resolve(value)
        onSettled(true)
      }, rejectThis)
    })
    this.#parent = parent
    this.#reject = rejectThis
    settle = isResolved => {
      if (!this.pending) return
      this.pending = false
      this.resolved = isResolved
      this.rejected = !isResolved
      this.#timer?.cancel()
    }
    if (settledEarly !== undefined) settle(settledEarly)
    super.then(undefined, () => {})
  }

  override then<R = T, E = never>(
    onResolved?: Handler<T, R>,
    onRejected?: Handler<any, E>,
  ): WorkerpoolPromise<R | E> {
    return new WorkerpoolPromise<R | E>((resolve, reject) => {
      super.then(onResolved, onRejected).then(resolve, reject)
    }, this)
  }

  override catch<E = never>(onRejected?: Handler<any, E>): WorkerpoolPromise<T | E> {
    return this.then(undefined, onRejected)
  }

  override finally(onSettled?: (() => void) | null): WorkerpoolPromise<T> {
    return new WorkerpoolPromise<T>((resolve, reject) => {
      super.finally(onSettled).then(resolve, reject)
    }, this)
  }

  /** Calls the function when the promise is settled, with the result or the error. */
  always<R>(onSettled: (value: any) => R | PromiseLike<R>): WorkerpoolPromise<R> {
    return this.then(onSettled, onSettled)
  }

  /** Rejects the call with `CancellationError`. Ends the worker of a running call, unless an abort listener resolves. */
  cancel(): this {
    if (this.#parent !== undefined) this.#parent.cancel()
    else this.#reject(new CancellationError())
    return this
  }

  /** Rejects the call with `TimeoutError` if it runs longer. */
  timeout(delay: number): this {
    if (this.#parent !== undefined) this.#parent.timeout(delay)
    else if (this.pending) this.#startTimer(delay, delay)
    return this
  }

  #startTimer(delay: number, left: number): void {
    this.#timer?.cancel()
    this.#timer = realClock.after(left, () => {
      const rest = delay - this.#runTime()
      if (rest > 0) this.#startTimer(delay, rest)
      else this.#reject(new TimeoutError(`Promise timed out after ${delay} ms`))
    })
  }

  /**
   * A time limit counts the run time of a task.
   * @internal
   * @param runTime returns it in milliseconds; 0 while the task waits
   */
  limitRunTime(runTime: () => number): void {
    this.#runTime = runTime
  }

  /** @internal */
  onRejected(listener: () => void): void {
    super.then(undefined, listener)
  }
}
