// Decorators for handlers and constructors, and the names by which Nest finds pools.
import { createParamDecorator, type ExecutionContext, Inject } from '@nestjs/common'
import { clientGone, onClientGone, type RawRequest, type RawResponse } from '../http/client.js'

export const DEFAULT_POOL = 'default'
/** The token of the pools of one dynamic module. The module closes them. */
export const POOLS_OF_MODULE = 'LIDO_POOLS_OF_MODULE'

/**
 * The token of a pool, for `module.get()`, `overrideProvider()` and factories. Without a name: the pool of `forRoot()`.
 */
export function getPoolToken(name: string = DEFAULT_POOL): string {
  return `LIDO_POOL(${name})`
}

/** Injects a pool into a constructor's parameter or a property. Without a name: the pool of `forRoot()`. */
export function InjectPool(name?: string): ReturnType<typeof Inject> {
  return Inject(getPoolToken(name))
}

/**
 * `@ClientSignal() signal: AbortSignal` aborts when the client leaves before its answer is written. The reason has the
 * code `ERR_LIDO_CLIENT_GONE`. Pass the signal to `pool.run()`. Works with Express and with Fastify.
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

/** Express passes Node's request and response. Fastify wraps them and has them as `raw`. */
function rawOf<Raw>(value: Raw & { raw?: Raw }): Raw {
  return value.raw ?? value
}
