// The options of the plugin, apart from the options of its pool.
import { InvalidOptionError, type PoolOptions } from '../../index.js'
import { boolean, isRecord, milliseconds, text } from '../../shared/options/option-rules.js'
import { OptionTable } from '../../shared/options/option-table.js'
import { optionErrors, retryAfterRule } from '../http/options.js'
import { fastifysOwn } from '../http/record.js'
import type { Options as PiscinaOptions } from '../piscina/index.js'

export interface FastifyPoolOptions extends PoolOptions {
  /** The pool's name, as in `app.pools.images`. Default: it is `app.pool`. */
  as?: string | undefined
  /**
   * Milliseconds from a request's arrival, by which tasks tied to it must be done; `Infinity`: no limit. A route's own,
   * `config: { pool: { deadlineMs } }`, goes first, and a call's `deadline` before it. Default `Infinity`.
   */
  deadlineMs?: number | undefined
  /** Seconds that a client turned away is asked to stay away, an integer of at least 0. Default 1. */
  retryAfter?: number | undefined
  /** Decorates with `piscina` and `runTask`, as fastify-piscina does, in place of a pool; the options are Piscina's. */
  piscina?: false | undefined
}

export type PiscinaPluginOptions = PiscinaOptions & { piscina: true }

/** Of one registration. */
export interface Registration {
  /** `DEFAULT_POOL_NAME` without a name. */
  readonly as: string
  readonly deadlineMs: number
  readonly retryAfter: number
}

export const DEFAULT_POOL_NAME = 'default'

const deadlineRule = milliseconds(false, {
  default: Number.POSITIVE_INFINITY,
  description: "from a request's arrival until tasks tied to it must be done",
})
const pluginTable = new OptionTable({
  as: text({ default: DEFAULT_POOL_NAME, description: "the pool's name, as in `app.pools.images`" }),
  deadlineMs: deadlineRule,
  retryAfter: retryAfterRule,
  piscina: boolean({ default: false, description: 'decorates as fastify-piscina does' }),
})
const routeTable = new OptionTable({ deadlineMs: deadlineRule })
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

/** Piscina ignores what it does not know, so a file under another name would only be missed at the first task. */
export function piscinaOptions(given: PiscinaOptions & { piscina?: true | undefined }): PiscinaOptions {
  const { piscina: _, ...options } = given
  const filename = Object.keys(options).find(key => key.toLowerCase() === 'filename')
  if (filename !== undefined && filename !== 'filename' && filename !== 'fileName') {
    throw new InvalidOptionError(filename, `There is no option '${filename}'. Did you mean 'filename'?`)
  }
  return withoutFastifys(options) as PiscinaOptions
}

/** Checks the setting `config.pool` of a route when the route is added, since its first request would be too late. */
export function checkRoute(given: unknown): void {
  if (given === undefined) return
  if (!isRecord(given)) routeErrors.wrong('config.pool', given, 'an object, as in { deadlineMs: 2_000 }')
  else routeTable.read(given, routeErrors, 'config.pool.')
}

export function deadlineOfRoute(given: unknown): number {
  return deadlineRule.read(given, 'config.pool.deadlineMs', routeErrors)
}

function withoutFastifys(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([key]) => !fastifysOwn.includes(key)))
}
