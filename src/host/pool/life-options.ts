// The options that say how workers live and when a task is run again, judged.

import type { RetryOptions, RetrySettings } from '../task/retry.js'
import type { RestartOptions, RestartSettings } from '../workers/restart-policy.js'
import { type LifeSettings, lifeDefaults } from '../workers/worker-limits.js'
import { refuseFor } from './call-options.js'
import { durationMs, integer, plainObject, type Refuse, refuse, refuseUnknown } from './option-checks.js'

export interface LifeOptions {
  /** Tasks a worker begins before it is replaced. Default `Infinity`. */
  maxTasksPerWorker?: number | undefined
  /** Milliseconds after which a worker is replaced, when it has finished what it has begun. Default `Infinity`. */
  maxWorkerAge?: number | undefined
  /**
   * Bytes of heap, and of buffers beside it, above which a worker is replaced, when it has finished what it has begun. At
   * least 4 MiB. Default `Infinity`. Inline it has no effect: the heap is the program's.
   */
  maxWorkerMemory?: number | undefined
  /** Milliseconds that the `teardown` exports of a worker's modules may take before it is killed. Default 5,000. */
  teardownTimeout?: number | undefined
  /** When so many starts fail that none is tried for a while. */
  restart?: RestartOptions | undefined
  /** Whether a task may be run again when its worker died. A call may say otherwise. Default: never. */
  retry?: RetryOptions | undefined
}

export const lifeOptionNames = [
  'maxTasksPerWorker',
  'maxWorkerAge',
  'maxWorkerMemory',
  'teardownTimeout',
  'restart',
  'retry',
] as const satisfies readonly (keyof LifeOptions)[]

/** Less than a worker has before it has done anything. */
const LEAST_MEMORY_BYTES = 4 * 2 ** 20
const MOST_ATTEMPTS = 100
const restartNames = ['failures', 'period', 'pause'] as const
const retryNames = ['attempts', 'when'] as const

export function resolveLife(options: LifeOptions): LifeSettings & { retry: RetrySettings | null } {
  const { maxTasksPerWorker, maxWorkerAge, maxWorkerMemory, teardownTimeout } = {
    ...lifeDefaults,
    ...given(options),
  }
  return {
    maxTasksPerWorker: integer('maxTasksPerWorker', maxTasksPerWorker, 1, Number.MAX_SAFE_INTEGER, true),
    maxWorkerAge: positiveMs('maxWorkerAge', maxWorkerAge),
    maxWorkerMemory: resolveMemory(maxWorkerMemory),
    teardownTimeout: durationMs('teardownTimeout', teardownTimeout),
    restart: resolveRestart(options.restart),
    retry: resolveRetry(options.retry, refuse),
  }
}

/** The same option of one call. */
export function resolveRetryOfCall(value: unknown): RetrySettings | null {
  return resolveRetry(value, (...problem) => refuseFor('run()', ...problem))
}

function resolveRestart(value: unknown): RestartSettings {
  if (value === undefined) return lifeDefaults.restart
  const restart = plainObject('restart', value) as RestartOptions
  refuseUnknown('restart', restart, restartNames)
  const { failures, period, pause } = { ...lifeDefaults.restart, ...given(restart) }
  return {
    failures: integer('restart.failures', failures, 1, 1000, true),
    period: positiveMs('restart.period', period),
    pause: positiveMs('restart.pause', pause),
  }
}

function resolveMemory(value: unknown): number {
  if (typeof value === 'number' && value >= LEAST_MEMORY_BYTES) return value
  return refuse('maxWorkerMemory', value, 'bytes: a number of at least 4 * 2 ** 20 (4 MiB), or Infinity')
}

function positiveMs(option: string, value: unknown): number {
  if (typeof value === 'number' && value > 0) return value
  return refuse(option, value, 'milliseconds: a number above 0, or Infinity')
}

function resolveRetry(value: unknown, refuses: Refuse): RetrySettings | null {
  if (value === undefined) return null
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return refuses('retry', value, 'an object, as in { attempts: 3 }')
  }
  refuseUnknown('retry', value, retryNames, refuses)
  const { attempts, when } = Object.assign(Object.create(null), value) as RetryOptions
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > MOST_ATTEMPTS) {
    return refuses('retry.attempts', attempts, `an integer from 1 to ${MOST_ATTEMPTS}`)
  }
  if (when !== undefined && typeof when !== 'function') {
    return refuses('retry.when', when, 'a function (error, attempt) => true or false')
  }
  return attempts === 1 ? null : { attempts, when: when ?? null }
}

/** Own members that say something. */
function given<Options extends object>(
  options: Options,
): { [Name in keyof Options]-?: NonNullable<Options[Name]> } {
  const own = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(own) as never
}
