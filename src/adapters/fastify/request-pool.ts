// The pool of one request. Cancels the request's tasks when the client leaves, and gives them the request's deadline.
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool, RunOptions } from '../../index.js'
import { ownFields } from '../../kit.js'
import { forHttp } from '../http/answers.js'
import { besideOwn, clientGone, onClientGone } from '../http/client.js'
import { isRecord } from '../http/record.js'
import { deadlineOfRoute, type Registration } from './options.js'

/** Ties tasks to their request. Each request has one. It adds no listener before the first task. */
export class RequestTie {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #arrivedAt = Date.now()
  #controller: AbortController | null = null
  #givenUp: { reason: unknown } | null = null

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.#request = request
    this.#reply = reply
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      const controller = new AbortController()
      this.#controller = controller
      if (this.#givenUp !== null) controller.abort(this.#givenUp.reason)
      else onClientGone(this.#request.raw, this.#reply.raw, () => controller.abort(clientGone))
    }
    return this.#controller.signal
  }

  /** Cancels the tasks because the request was answered without them. */
  giveUp(reason: unknown): void {
    this.#givenUp = { reason }
    this.#controller?.abort(reason)
  }

  /** In milliseconds since the epoch, like `Date.now()`; `undefined`: no limit. */
  deadline({ deadlineMs }: Registration): number | undefined {
    const ofRoute = deadlineOfRoute(configOf(this.#request))
    const limitMs = ofRoute ?? deadlineMs
    return limitMs === Number.POSITIVE_INFINITY ? undefined : this.#arrivedAt + limitMs
  }
}

/** Fastify 4 renamed this twice, and deprecated the older names. */
function configOf(request: FastifyRequest): FastifyContextConfig {
  const { routeOptions } = request
  if (routeOptions?.config !== undefined) return routeOptions.config
  const older = request as unknown as Partial<Record<'routeConfig', FastifyContextConfig>> & {
    context: { config: FastifyContextConfig }
  }
  return older.routeConfig ?? older.context.config
}

/** A pool for the tasks of one request: `request.pool`. */
export class RequestPool<Module = any> {
  readonly #pool: Pool<Module>
  readonly #registration: Registration
  readonly #tie: RequestTie

  constructor(pool: Pool<Module>, registration: Registration, tie: RequestTie) {
    this.#pool = pool
    this.#registration = registration
    this.#tie = tie
  }

  /** Aborts when the client leaves before its answer is written. The reason has the code `ERR_LIDO_CLIENT_GONE`. */
  get signal(): AbortSignal {
    return this.#tie.signal
  }

  /**
   * Like `run()` of the pool, but the pool cancels the task when the client leaves. After `deadlineMs` the task rejects
   * with `TaskTimeoutError`. A `signal` of the call applies in addition. A `deadline` of the call replaces the
   * request's. Errors that the state of the pool causes have a `statusCode`.
   * @example
   * const small = await request.pool.run(request.body, { name: 'resize' })
   * @see [RequestPool](https://OWNER.github.io/lido/reference/fastify.html#requestpool)
   */
  run: Pool<Module>['run'] = ((payload: unknown, options?: RunOptions) =>
    this.#run(payload, options)) as Pool<Module>['run']

  async #run(payload: unknown, options: RunOptions = {}): Promise<unknown> {
    try {
      if (!isRecord(options)) return await (this.#pool as Pool).run(payload, options)
      const own = ownFields(options)
      const signal = besideOwn(this.#tie.signal, own.signal)
      const deadline = own.deadline ?? this.#tie.deadline(this.#registration)
      const bound = { ...own, signal, ...(deadline === undefined ? null : { deadline }) }
      return await (this.#pool as Pool).run(payload, bound)
    } catch (error) {
      forHttp(error, this.#registration.retryAfter)
      throw error
    }
  }
}
