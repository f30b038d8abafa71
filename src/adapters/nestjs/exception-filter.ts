// An exception filter for Nest. Answers requests that failed because of the state of a pool.
import { type ArgumentsHost, Catch, HttpException, Inject } from '@nestjs/common'
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core'
import { PoolError } from '../../index.js'
import { forHttp, type HttpFields } from '../http/answers.js'
import { optionErrors, RETRY_AFTER_S, retryAfterRule } from '../http/options.js'

const errors = optionErrors('PoolExceptionFilter')

/**
 * Answers with 503 and `Retry-After` when the state of the pool is the cause. Nest answers other errors of a pool, and
 * errors in microservices. Clients of a gateway get an `exception` event with the error's message and code.
 */
export class PoolExceptionFilter extends BaseExceptionFilter {
  readonly #host: HttpAdapterHost
  readonly #retryAfter: number

  /** `retryAfter` in seconds. Throws `InvalidOptionError`. */
  constructor(host: HttpAdapterHost, retryAfter: number = RETRY_AFTER_S) {
    super()
    this.#host = host
    this.#retryAfter = retryAfterRule.read(retryAfter, 'retryAfter', errors)
  }

  /**
   * Nest calls this with the error of a request.
   * @see [PoolExceptionFilter](https://OWNER.github.io/lido/reference/nestjs.html#poolexceptionfilter)
   */
  override catch(error: PoolError & HttpFields, context: ArgumentsHost): void {
    switch (context.getType()) {
      case 'http':
        return this.#answer(error, context)
      case 'rpc':
        // Nest's filter for microservices answers the error.
        return
      case 'ws':
        return tellClient(error, context)
      default:
        throw error
    }
  }

  #answer(error: PoolError & HttpFields, context: ArgumentsHost): void {
    // The adapter exists only after filters are created, so read it here.
    const { httpAdapter } = this.#host
    forHttp(error, this.#retryAfter)
    const { statusCode, headers = {}, message } = error
    if (statusCode === undefined) return this.handleUnknownError(error, context, httpAdapter)
    const response = context.switchToHttp().getResponse()
    if (!httpAdapter.isHeadersSent(response)) {
      for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(response, name, value)
      httpAdapter.reply(response, bodyOf(error, statusCode, message), statusCode)
    } else httpAdapter.end(response)
  }
}

Catch(PoolError)(PoolExceptionFilter)
// Lets Nest create the filter, as in @UseFilters(PoolExceptionFilter).
Inject(HttpAdapterHost)(PoolExceptionFilter, undefined, 0)

/** Sends the same event as Nest's own filter for gateways. */
function tellClient({ message, code }: PoolError, context: ArgumentsHost): void {
  context.switchToWs().getClient().emit?.('exception', { status: 'error', message, code })
}

/** The body of Nest's own exceptions, with the code of the error. */
function bodyOf(error: PoolError, statusCode: number, message: string): object {
  const word = statusCode === 503 ? 'Service Unavailable' : 'Client Closed Request'
  return HttpException.createBody({ statusCode, error: word, message, code: error.code })
}
