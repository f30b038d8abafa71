// The health of a pool as @nestjs/terminus expects it. Works without that package.
import { Inject, Injectable } from '@nestjs/common'
import { ModuleRef } from '@nestjs/core'
import type { Pool } from '../../index.js'
import { text } from '../../shared/options/option-rules.js'
import { OptionTable } from '../../shared/options/option-table.js'
import { checkHolder, optionErrors } from '../http/options.js'
import {
  isUnderPressure,
  maxWaitingRule,
  type PoolPressure,
  type PressureLimit,
  pressureOf,
} from '../http/pressure.js'
import { DEFAULT_POOL, getPoolToken } from './decorators.js'

const table = new OptionTable({
  pool: text({ default: DEFAULT_POOL, description: 'name of the pool to check' }),
  maxWaiting: maxWaitingRule,
})
const errors = optionErrors('check()')

export type PoolHealthResult = Record<string, PoolPressure & { status: 'up' | 'down' }>

export class PoolHealthIndicator {
  readonly #modules: ModuleRef

  constructor(modules: ModuleRef) {
    this.#modules = modules
  }

  /**
   * Returns `{ [key]: { status, waiting, inFlight, workers, utilization } }`. `status` is `'down'` while the pool is
   * under pressure or closed. Throws `InvalidOptionError`, and Nest's error when the pool does not exist.
   * @param options `pool` is the name of the pool. Default: the pool of `forRoot()`.
   */
  check(key: string, options: PressureLimit & { pool?: string | undefined } = {}): PoolHealthResult {
    const { pool: name, ...limit } = table.read(checkHolder(options, errors, 'maxWaiting: 50'), errors)
    const pool = this.#modules.get<Pool>(getPoolToken(name), { strict: false })
    return { [key]: { status: isUnderPressure(pool, limit) ? 'down' : 'up', ...pressureOf(pool) } }
  }
}

Injectable()(PoolHealthIndicator)
Inject(ModuleRef)(PoolHealthIndicator, undefined, 0)
