// The signal of a request's client, for a handler's parameter.
import { createParamDecorator, type ExecutionContext } from '@nestjs/common'
import { clientGone, onClientGone, type RawRequest, type RawResponse } from '../http/client.js'

/**
 * `@ClientSignal() signal: AbortSignal` aborts when the client has gone before its answer was written; its reason then has
 * the code `ERR_LIDO_CLIENT_GONE`. Give it to `pool.run()`. With Express and with Fastify.
 */
export const ClientSignal: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AbortSignal => {
    const http = context.switchToHttp()
    const controller = new AbortController()
    const leave = () => controller.abort(clientGone)
    onClientGone(rawOf<RawRequest>(http.getRequest()), rawOf<RawResponse>(http.getResponse()), leave)
    return controller.signal
  },
)

/** Fastify's objects hold those of Node; Express's are those of Node. */
function rawOf<Raw>(value: Raw & { raw?: Raw }): Raw {
  return value.raw ?? value
}
