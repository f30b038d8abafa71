// `pool.run()`: one task, and the promise of its result.
import type { RunOptions } from '../../api/call-options.js'
import {
  InvalidTaskError,
  PoolClosedError,
  type PublicFunction,
  withCallerFrames,
} from '../../shared/errors/pool-errors.js'
import type { Engine } from '../engine/engine.js'
import type { Call, CallTerms } from '../task/call.js'
import { fileOf, plainTerms, resolveRun } from './call-terms.js'
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
 * @param engine `undefined`: the adapter gave no pool
 * @param wrapper the file of a module that exports `wrap(handler)`; the worker calls the function that `wrap` returns
 */
export function runWrapped(
  engine: Engine | undefined,
  payload: unknown,
  options: RunOptions | undefined,
  wrapper: unknown,
): Promise<unknown> {
  try {
    if (engine === undefined) throw new InvalidTaskError('pool', NO_POOL)
    const { payload: sent, terms } = resolveRun(payload, options, engine.settings, null)
    const call = {
      payload: sent,
      terms: {
        ...terms,
        handler: {
          ...terms.handler,
          wrapper: fileOf(wrapper, 'wrapper', "argument 'wrapper' of runWrapped()"),
        },
      },
    }
    return promiseOf(engine, call, runWrapped)
  } catch (problem) {
    return rejectCall(problem, runWrapped)
  }
}

const NO_POOL =
  "The first argument of runWrapped() must be a pool that this copy of lido made. Two copies of lido do not know each other's pools."

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
