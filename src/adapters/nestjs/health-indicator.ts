// The health of a pool as @nestjs/terminus expects it. Works without that package.
import { createRequire } from 'node:module'
import { Inject, Injectable } from '@nestjs/common'
import { ModuleRef } from '@nestjs/core'
import type { Pool } from '../../index.js'
import { OptionTable, packagesFrom, text } from '../../kit.js'
import { checkHolder, optionErrors } from '../http/options.js'
import {
  isUnderPressure,
  maxWaitingRule,
  type PoolPressure,
  type PressureLimit,
  pressureOf,
} from '../http/pressure.js'
import { installedVersion, isOlder } from '../packages/version.js'
import { DEFAULT_POOL, getPoolToken } from './decorators.js'

const table = new OptionTable({
  pool: text({ default: DEFAULT_POOL }),
  maxWaiting: maxWaitingRule,
})
const errors = optionErrors('check()')

/** The result of `PoolHealthIndicator.check()`, by its key. */
export type PoolHealthResult = Record<string, PoolPressure & { status: 'up' | 'down' }>

/** Reports the load of a pool to `@nestjs/terminus`. */
export class PoolHealthIndicator {
  readonly #modules: ModuleRef

  constructor(modules: ModuleRef) {
    this.#modules = modules
  }

  /**
   * Returns `{ [key]: { status, waiting, inFlight, workers, utilization } }`. `status` is `'down'` while the pool is
   * under pressure or closed. Throws `InvalidOptionError`, and Nest's error when the pool does not exist. With
   * @nestjs/terminus 10, which needs an error, it throws an error with the result as `causes` instead of `'down'`.
   * @param options `pool` is the name of the pool. Default: the pool of `forRoot()`.
   * @example
   * this.health.check([() => this.pools.check('pool')])
   * @see [PoolHealthIndicator.check()](https://OWNER.github.io/lido/reference/nestjs.html#poolhealthindicatorcheckkey-options)
   */
  check(key: string, options: PressureLimit & { pool?: string | undefined } = {}): PoolHealthResult {
    const { pool: name, ...limit } = table.read(checkHolder(options, errors, 'maxWaiting: 50'), errors)
    const pool = this.#modules.get<Pool>(getPoolToken(name), { strict: false })
    const isDown = isUnderPressure(pool, limit)
    const result: PoolHealthResult = { [key]: { status: isDown ? 'down' : 'up', ...pressureOf(pool) } }
    if (isDown && needsHealthCheckError()) throw healthCheckError(key, result)
    return result
  }
}

/** Before version 11, @nestjs/terminus takes every returned result for healthy. */
function needsHealthCheckError(): boolean {
  const version = installedVersion('@nestjs/terminus', createRequire(packagesFrom()))
  return version !== null && isOlder(version, '11.0.0')
}

/** The fields by which @nestjs/terminus 10 recognises the error of an indicator. */
function healthCheckError(key: string, causes: PoolHealthResult): Error {
  const message = `The pool of '${key}' is under pressure or closed`
  return Object.assign(new Error(message), { isHealthCheckError: true, causes })
}

Injectable()(PoolHealthIndicator)
Inject(ModuleRef)(PoolHealthIndicator, undefined, 0)
