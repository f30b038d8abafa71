// What a pool's error is over HTTP, in Nest's own words: an exception with a status, answered by Nest's own filter.
import { type ArgumentsHost, Catch, HttpException, Inject } from '@nestjs/common'
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core'
import { PoolError } from '../../index.js'
import { forHttp, type HttpFields } from '../http/answers.js'
import { optionErrors, RETRY_AFTER_S, retryAfterRule } from '../http/options.js'

const errors = optionErrors('PoolExceptionFilter')

/**
 * Answers 503 with `Retry-After` where a pool's state is the cause; other errors of a pool are left to Nest, as are those of
 * microservices. Clients of a gateway are sent an `exception` with the error's message and code.
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

  override catch(error: PoolError & HttpFields, context: ArgumentsHost): void {
    switch (context.getType()) {
      case 'http':
        return this.#answer(error, context)
      case 'rpc':
        // Nest's own filter for microservices answers what this one leaves.
        return
      case 'ws':
        return tellClient(error, context)
      default:
        throw error
    }
  }

  #answer(error: PoolError & HttpFields, context: ArgumentsHost): void {
    // The adapter is there once the program listens, not when filters are made.
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
// Where a program names the class, as in @UseFilters(PoolExceptionFilter), Nest makes it.
Inject(HttpAdapterHost)(PoolExceptionFilter, undefined, 0)

/** As Nest's own filter for gateways does. */
function tellClient({ message, code }: PoolError, context: ArgumentsHost): void {
  context.switchToWs().getClient().emit?.('exception', { status: 'error', message, code })
}

/** As Nest's own exceptions are answered, with the pool's code. */
function bodyOf(error: PoolError, statusCode: number, message: string): object {
  const word = statusCode === 503 ? 'Service Unavailable' : 'Client Closed Request'
  return HttpException.createBody({ statusCode, error: word, message, code: error.code })
}
