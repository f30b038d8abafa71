// A pool as one request sees it: what runs for the request ends with it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool, RunOptions } from '../../index.js'
import { forHttp } from '../http/answers.js'
import { besideOwn, clientGone, onClientGone } from '../http/client.js'
import { isRecord } from '../http/record.js'
import { deadlineOfRoute, type Registration } from './options.js'

/** What binds tasks to their request. One for each request; it listens to nothing before the first task. */
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

  /** The request was answered without waiting for its tasks. */
  giveUp(reason: unknown): void {
    this.#givenUp = { reason }
    this.#controller?.abort(reason)
  }

  /** Milliseconds of the epoch; `undefined`: no limit. */
  deadline({ deadlineMs }: Registration): number | undefined {
    const ofRoute = this.#request.routeOptions.config.pool?.deadlineMs
    const limitMs = ofRoute === undefined ? deadlineMs : deadlineOfRoute(ofRoute)
    return limitMs === Number.POSITIVE_INFINITY ? undefined : this.#arrivedAt + limitMs
  }
}

export class RequestPool<Module = any> {
  readonly #pool: Pool<Module>
  readonly #registration: Registration
  readonly #tie: RequestTie

  constructor(pool: Pool<Module>, registration: Registration, tie: RequestTie) {
    this.#pool = pool
    this.#registration = registration
    this.#tie = tie
  }

  /** Aborts when the client has gone before its answer was written; its reason then has the code `ERR_LIDO_CLIENT_GONE`. */
  get signal(): AbortSignal {
    return this.#tie.signal
  }

  /**
   * As `run()` of the pool, with the same rejections, and bound to the request: when the client has gone the task is
   * cancelled, and when `deadlineMs` is over it rejects with `TaskTimeoutError`. A `signal` of the call counts beside the
   * request's, a `deadline` of the call in place of it. Errors have a `statusCode`, where the pool's state is the cause.
   */
  run: Pool<Module>['run'] = ((payload: unknown, options?: RunOptions) =>
    this.#run(payload, options)) as Pool<Module>['run']

  async #run(payload: unknown, options: RunOptions = {}): Promise<unknown> {
    try {
      if (!isRecord(options)) return await (this.#pool as Pool).run(payload, options)
      const signal = besideOwn(this.#tie.signal, options.signal)
      const deadline = options.deadline ?? this.#tie.deadline(this.#registration)
      const bound = { ...options, signal, ...(deadline === undefined ? null : { deadline }) }
      return await (this.#pool as Pool).run(payload, bound)
    } catch (error) {
      forHttp(error, this.#registration.retryAfter)
      throw error
    }
  }
}
