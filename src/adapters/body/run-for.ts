// Runs a task for a request. Cancels the task when the client leaves, and converts errors of the pool to HTTP errors.
import type {
  Chosen,
  DefaultName,
  HandlerName,
  Pool,
  ResultOf,
  RunArguments,
  RunOptions,
} from '../../index.js'
import { ownFields } from '../../kit.js'
import { besideOwn, type RawRequest, whileConnected } from '../http/client.js'
import { isRecord } from '../http/record.js'
import { problemOf } from './problems.js'

/**
 * Like `pool.run()`, but cancels the task when the client leaves before the task has settled. Rejects with the
 * handler's error, or with an `HttpProblem`:
 * - `status` 503 when the queue is full, the pool is closed, a time limit has passed or no worker starts; mostly with a
 *   `Retry-After` header
 * - `status` 500 when the worker died
 * - `type` `request.aborted` when the client left
 */
export function runFor<
  Module = any,
  Default extends HandlerName<Module> = DefaultName<Module>,
  Name extends string | undefined = Default,
>(
  request: RawRequest,
  pool: Pool<Module, Default>,
  ...args: RunArguments<Module, Name, Default>
): Promise<ResultOf<Module, Chosen<Name, Default>>>
export async function runFor(
  request: RawRequest,
  pool: Pool,
  payload?: unknown,
  options?: RunOptions,
): Promise<unknown> {
  try {
    return await whileConnected(request, gone => {
      // The pool refuses options that are not an object.
      if (options !== undefined && !isRecord(options)) return pool.run(payload, options)
      const own: RunOptions = ownFields(options ?? {})
      return pool.run(payload, { ...own, signal: besideOwn(gone, own.signal) })
    })
  } catch (error) {
    throw problemOf(error)
  }
}
