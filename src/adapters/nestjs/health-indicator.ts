// A pool's health in the shape that @nestjs/terminus asks for. It needs no package for that, so it works without.
import { Inject, Injectable } from '@nestjs/common'
import { ModuleRef } from '@nestjs/core'
import type { Pool } from '../../index.js'
import {
  checkLimit,
  isUnderPressure,
  type PoolPressure,
  type PressureLimit,
  pressureOf,
} from '../http/pressure.js'
import { DEFAULT_POOL, getPoolToken } from './decorators.js'

export type PoolHealthResult = Record<string, PoolPressure & { status: 'up' | 'down' }>

export class PoolHealthIndicator {
  readonly #modules: ModuleRef

  constructor(modules: ModuleRef) {
    this.#modules = modules
  }

  /**
   * `{ [key]: { status, waiting, inFlight, workers, utilization } }`; `'down'` while the pool is under pressure or closed.
   * Throws when there is no such pool, and `InvalidOptionError`. `pool` is its name; default: that of `forRoot()`.
   */
  check(
    key: string,
    { pool: name = DEFAULT_POOL, ...others }: PressureLimit & { pool?: string | undefined } = {},
  ): PoolHealthResult {
    const limit = checkLimit(others, 'pool, maxWaiting')
    const pool = this.#modules.get<Pool>(getPoolToken(name), { strict: false })
    return { [key]: { status: isUnderPressure(pool, limit) ? 'down' : 'up', ...pressureOf(pool) } }
  }
}

Injectable()(PoolHealthIndicator)
Inject(ModuleRef)(PoolHealthIndicator, undefined, 0)
