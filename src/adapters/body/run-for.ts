// Runs a task for a request. The task is cancelled when the client leaves. Errors of the pool become HTTP errors.
import type {
  DefaultName,
  HandlerName,
  NoPayload,
  PayloadOf,
  Pool,
  ResultOf,
  RunOptions,
} from '../../index.js'
import { besideOwn, type RawRequest, whileConnected } from '../http/client.js'
import { isRecord } from '../http/record.js'
import { problemOf } from './problems.js'

/**
 * `pool.run()` tied to the request: when the client leaves before the answer is there, the task is cancelled. Rejects with
 * the handler's own error, or with an `HttpProblem`: `status` 503 and a `Retry-After` header when the queue is full, the
 * pool is closed, or a limit of time is over; 500 when the worker is lost; `type` `request.aborted` when the client left.
 */
export function runFor<Module = any, Default extends HandlerName<Module> = DefaultName<Module>>(
  request: RawRequest,
  pool: Pool<Module, Default>,
  payload: PayloadOf<Module, Default>,
  options?: Omit<RunOptions, 'name'> & { name?: undefined },
): Promise<ResultOf<Module, Default>>
export function runFor<
  Module = any,
  Default extends HandlerName<Module> = DefaultName<Module>,
  Name extends HandlerName<Module> = Default,
>(
  request: RawRequest,
  pool: Pool<Module, Default>,
  payload: PayloadOf<Module, Name>,
  options?: RunOptions & { name?: Name | undefined },
): Promise<ResultOf<Module, Name>>
export function runFor<Module = any, Default extends HandlerName<Module> = DefaultName<Module>>(
  request: RawRequest,
  pool: Pool<Module, Default>,
  ...none: NoPayload<Module, Default>
): Promise<ResultOf<Module, Default>>
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
      return pool.run(payload, { ...options, signal: besideOwn(gone, options?.signal) } as RunOptions)
    })
  } catch (error) {
    throw problemOf(error)
  }
}
