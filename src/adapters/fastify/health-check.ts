// Makes a function for the option `healthCheck` of @fastify/under-pressure.
import type { FastifyInstance } from 'fastify'
import type { Pool } from '../../index.js'
import { OptionTable, type RulesFor, value } from '../../kit.js'
import { checkHolder, optionErrors } from '../http/options.js'
import {
  isUnderPressure,
  maxWaitingRule,
  type PoolPressure,
  type PressureLimit,
  pressureOf,
} from '../http/pressure.js'

/** The options of `healthCheck()`. */
export interface HealthCheckOptions extends PressureLimit {
  /**
   * The names of the pools to check. Default: all.
   * @see [lido/fastify](https://OWNER.github.io/lido/reference/fastify.html)
   */
  pools?: readonly string[] | undefined
}

const table = new OptionTable({
  pools: value<readonly string[] | undefined>(Array.isArray, 'an array of names', {
    default: undefined,
  }),
  maxWaiting: maxWaitingRule,
} satisfies RulesFor<HealthCheckOptions>)
const errors = optionErrors('healthCheck()')

/**
 * Returns a function for `healthCheck`. It resolves to `false` while a pool is under pressure, otherwise to the figures
 * of each pool. It rejects when a named pool, or any pool, is not registered. Throws `InvalidOptionError`.
 */
export function healthCheck(options: HealthCheckOptions = {}) {
  const { pools: names, ...limit } = table.read(checkHolder(options, errors, 'maxWaiting: 50'), errors)
  return async (app: FastifyInstance): Promise<false | { pools: Record<string, PoolPressure> }> => {
    const pools = app.pools as Readonly<Record<string, Pool>> | undefined
    if (pools === undefined) throw new Error("There is no pool to check. Register 'lido/fastify' first.")
    const missing = names?.find(name => !(name in pools))
    if (missing !== undefined)
      throw new Error(`There is no pool '${missing}'. Register it first, with as: '${missing}'.`)
    const figures: [name: string, PoolPressure][] = []
    // `for in` also visits the pools of outer scopes. A pool of this scope hides an outer pool of the same name.
    for (const name in pools) {
      if (names !== undefined && !names.includes(name)) continue
      const pool = pools[name]!
      if (isUnderPressure(pool, limit)) return false
      figures.push([name, pressureOf(pool)])
    }
    return { pools: Object.fromEntries(figures) }
  }
}
