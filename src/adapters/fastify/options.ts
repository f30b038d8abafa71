// Separates the options of the plugin from the options of its pool, and checks them.
import { InvalidOptionError, type PoolOptions } from '../../index.js'
import { boolean, isRecord, milliseconds, OptionTable, ownFields, text } from '../../kit.js'
import { optionErrors, retryAfterRule } from '../http/options.js'
import { fastifysOwn } from '../http/record.js'
import type { Options as PiscinaOptions } from '../piscina/index.js'

/** The options of the plugin, beside those of the pool. */
export interface FastifyPoolOptions extends PoolOptions {
  /**
   * The pool's name, as in `app.pools.images`. Without a name the pool is `app.pool`.
   * @see [lido/fastify](https://OWNER.github.io/lido/reference/fastify.html)
   */
  as?: string | undefined
  /**
   * The tasks of a request must finish within this many milliseconds after the request arrived. `Infinity`: no limit.
   * A route can override it with `config: { pool: { deadlineMs } }`, and a call with `deadline`. Default `Infinity`.
   * @see [lido/fastify](https://OWNER.github.io/lido/reference/fastify.html)
   */
  deadlineMs?: number | undefined
  /**
   * The `Retry-After` header of refused requests, in seconds: an integer of at least 0. Default 1.
   * @see [lido/fastify](https://OWNER.github.io/lido/reference/fastify.html)
   */
  retryAfter?: number | undefined
  /**
   * `true`: adds the decorators `piscina` and `runTask` instead of a pool, like fastify-piscina. Takes Piscina's
   * options.
   * @see [lido/fastify](https://OWNER.github.io/lido/reference/fastify.html)
   */
  piscina?: false | undefined
}

/** The options of the plugin with `piscina: true`. */
export type PiscinaPluginOptions = PiscinaOptions & { piscina: true }

/** The plugin's options of one registration. */
export interface Registration {
  /** `DEFAULT_POOL_NAME` if the user gave no name. */
  readonly as: string
  readonly deadlineMs: number
  readonly retryAfter: number
}

export const DEFAULT_POOL_NAME = 'default'

const pluginTable = new OptionTable({
  as: text({ default: DEFAULT_POOL_NAME }),
  deadlineMs: milliseconds(false, { default: Number.POSITIVE_INFINITY }),
  retryAfter: retryAfterRule,
  piscina: boolean({ default: false }),
})
const routeTable = new OptionTable({
  deadlineMs: milliseconds(false, {
    default: undefined,
  }),
})
const pluginErrors = optionErrors("'lido/fastify'")
const routeErrors = optionErrors('a route')

export function splitPluginOptions(given: FastifyPoolOptions): {
  registration: Registration
  options: PoolOptions
} {
  const { own, others } = pluginTable.split(given, pluginErrors)
  const { piscina: _, ...registration } = own
  return { registration, options: withoutFastifys(others) as PoolOptions }
}

/** Piscina ignores unknown options. Without this check a misspelled `filename` would fail only at the first task. */
export function piscinaOptions(given: PiscinaOptions & { piscina?: true | undefined }): PiscinaOptions {
  const { piscina: _, ...options } = ownFields(given)
  const filename = Object.keys(options).find(key => key.toLowerCase() === 'filename')
  if (filename !== undefined && filename !== 'filename' && filename !== 'fileName') {
    throw new InvalidOptionError(filename, `Unknown option '${filename}'. Did you mean 'filename'?`)
  }
  return withoutFastifys(options) as PiscinaOptions
}

/**
 * The deadline in the setting `config.pool` of a route. `undefined` means the deadline of the plugin. Call it when the route is added, so that a
 * wrong setting does not wait for the first request.
 */
export function deadlineOfRoute(config: object = {}): number | undefined {
  const { pool: given } = ownFields<{ pool?: unknown }>(config)
  if (given === undefined) return undefined
  if (!isRecord(given))
    return routeErrors.wrong('config.pool', given, 'an object, as in { deadlineMs: 2_000 }')
  return routeTable.read(given, routeErrors, 'config.pool.').deadlineMs
}

function withoutFastifys(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([key]) => !fastifysOwn.includes(key)))
}
