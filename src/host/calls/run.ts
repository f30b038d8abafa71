// `pool.run()`: one task, and the promise of its result.
import type { RunOptions } from '../../api/call-options.js'
import { PoolClosedError, type PublicFunction, withCallerFrames } from '../../shared/errors/pool-errors.js'
import type { Engine } from '../engine/engine.js'
import type { Call, CallTerms } from '../task/call.js'
import { plainTerms, resolveRun } from './call-terms.js'
import { withCallerStack } from './caller-stack.js'

export class Runs {
  readonly #engine: Engine
  readonly #plainTerms: CallTerms | null

  constructor(engine: Engine) {
    this.#engine = engine
    this.#plainTerms = plainTerms(engine.settings)
  }

  run(payload: unknown, options: RunOptions | undefined, entry: PublicFunction): Promise<unknown> {
    const engine = this.#engine
    if (engine.state !== 'open') return rejectCall(new PoolClosedError('closed'), entry)
    let call: Call
    try {
      call = resolveRun(payload, options, engine.settings, this.#plainTerms)
    } catch (problem) {
      return rejectCall(problem, entry)
    }
    return promiseOf(engine, call, entry)
  }
}

/**
 * As `pool.run()`, for adapters.
 * @param wrapper the absolute path of a module that exports `wrap(handler)`; the worker calls the function that `wrap` returns
 */
export function runWrapped(
  engine: Engine,
  payload: unknown,
  options: RunOptions,
  wrapper: string,
): Promise<unknown> {
  try {
    const { payload: sent, terms } = resolveRun(payload, options, engine.settings, null)
    const call = { payload: sent, terms: { ...terms, handler: { ...terms.handler, wrapper } } }
    return promiseOf(engine, call, runWrapped)
  } catch (problem) {
    return rejectCall(problem, runWrapped)
  }
}

/**
 * Submits the task of a call. The promise settles with its answer.
 * @param entry the public function that the program called
 */
export function promiseOf(
  engine: Engine,
  call: Call,
  entry: PublicFunction,
  PromiseClass: PromiseConstructor = Promise,
): Promise<unknown> {
  const answer = new PromiseClass((resolve, reject) => {
    try {
      engine.submit(call, resolve)
    } catch (problem) {
      reject(withCallerFrames(problem, entry))
    }
  })
  if (!engine.settings.callerStack) return answer
  return new PromiseClass(resolve => resolve(withCallerStack(answer, entry)))
}

export function rejectCall(problem: unknown, entry: PublicFunction): Promise<never> {
  return Promise.reject(withCallerFrames(problem, entry))
}
