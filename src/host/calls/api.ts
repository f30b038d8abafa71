// `pool.api`: the functions of the handlers' module as methods. A call takes the function's own arguments and runs in a worker.
import type { CallOptions } from '../../api/call-options.js'
import type { Engine } from '../engine/engine.js'
import type { CallTerms } from '../task/call.js'
import type { TaskChannel } from '../task/exchange.js'
import { createApi } from './api-object.js'
import { resolveWith } from './call-options.js'
import { termsOfFunction } from './call-terms.js'
import { type StreamEnd, withStream } from './exchange.js'
import { promiseOf, rejectCall } from './run.js'
import { StreamReader, StreamTask } from './stream.js'
import { DEFAULT_WINDOW } from './stream-options.js'

/** The functions with these options. Throws `InvalidTaskError`. */
export function apiOf(engine: Engine, given: CallOptions | undefined): object {
  const options = resolveWith(given)
  return createApi(name => {
    let terms: CallTerms | null = null
    const call = (...args: unknown[]): Promise<unknown> => {
      try {
        // The parent of a nested call is another task each time.
        if (terms === null || options.inherit)
          terms = streaming(termsOfFunction(name, options, engine.settings))
      } catch (problem) {
        return rejectCall(problem, call)
      }
      return promiseOf(engine, { payload: args, terms }, call, ApiPromise)
    }
    return call
  })
}

/** The promise of a function that returns a stream resolves to it. */
export function streaming(terms: CallTerms): CallTerms {
  return { ...terms, exchange: withStream(terms.exchange, openResult) }
}

function openResult(channel: TaskChannel): StreamEnd {
  const task = new StreamTask(DEFAULT_WINDOW, { start: () => error => channel.cancel(error) })
  task.onOpened(channel)
  channel.resolveEarly(task.makeStream(), answer => task.onAnswer(answer))
  return task
}

/**
 * The promise of a call by `pool.api` or `pool.call()`. When the function is a generator, the promise resolves to a stream, and the promise itself
 * can be iterated as well.
 */
export class ApiPromise<T> extends Promise<T> {
  /** `then()` gives a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void, undefined> {
    const result = await this
    if (!(result instanceof StreamReader)) {
      throw new TypeError('The result of this function is no stream, so it cannot be iterated. Await it.')
    }
    yield* result
  }
}
