// What is said of a plugin's registration, apart from what is said of its pool.
import { InvalidOptionError, type PoolOptions } from '../../index.js'
import { resolveRetryAfter } from '../http/answers.js'
import { fastifysOwn, isRecord } from '../http/record.js'
import { refuse } from '../http/refuse.js'
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
  /** `DEFAULT_POOL` without a name. */
  readonly as: string
  readonly deadlineMs: number
  readonly retryAfter: number
}

export const DEFAULT_POOL = 'default'

export function splitOptions(given: FastifyPoolOptions): {
  registration: Registration
  options: PoolOptions
} {
  const { as = DEFAULT_POOL, deadlineMs, retryAfter, piscina = false, ...options } = given
  if (typeof as !== 'string' || as === '') refuse('as', as, "a string that is not empty, as in as: 'images'")
  if (piscina !== false) refuse('piscina', piscina, 'true or false')
  const registration = {
    as,
    deadlineMs: resolveDeadline('deadlineMs', deadlineMs),
    retryAfter: resolveRetryAfter(retryAfter),
  }
  return { registration, options: withoutFastifys(options) as PoolOptions }
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

/** What a route says of its tasks. At its first request it would be too late to say that it is wrong. */
export function checkRoute(given: unknown): void {
  if (given === undefined) return
  if (!isRecord(given)) refuse('config.pool', given, 'an object, as in { deadlineMs: 2_000 }')
  const { deadlineMs, ...others } = given as { deadlineMs?: unknown }
  const [other] = Object.keys(others)
  if (other !== undefined) {
    const option = `config.pool.${other}`
    throw new InvalidOptionError(option, `There is no option '${option}'. There is config.pool.deadlineMs.`)
  }
  resolveDeadline('config.pool.deadlineMs', deadlineMs)
}

export function resolveDeadline(option: string, given: unknown): number {
  if (given === undefined) return Number.POSITIVE_INFINITY
  if (typeof given === 'number' && given > 0) return given
  return refuse(option, given, 'milliseconds: a number above 0, or Infinity')
}

function withoutFastifys(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([key]) => !fastifysOwn.includes(key)))
}
