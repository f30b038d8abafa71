// What a pool and a call may say of a task's time, and what it becomes.
import { types } from '../../shared/platform/node-modules.js'
import type { Limits } from '../task/time-limits.js'
import type { Refuse } from './option-checks.js'

interface Given {
  timeout?: unknown
  queueTimeout?: unknown
  deadline?: unknown
}

const { isDate } = types
const NONE = Number.POSITIVE_INFINITY
const UNLIMITED: Limits = { timeoutMs: NONE, queueTimeoutMs: NONE, deadline: NONE }

/** `defaults`, the same object, where nothing is given; `null` where nothing is limited. */
export function resolveLimits(given: Given, defaults: Limits | null, refuse: Refuse): Limits | null {
  const { timeout, queueTimeout, deadline } = given
  if (timeout === undefined && queueTimeout === undefined && deadline === undefined) return defaults
  const base = defaults ?? UNLIMITED
  const limits: Limits = {
    timeoutMs: timeout === undefined ? base.timeoutMs : resolveTimeout(timeout, refuse),
    queueTimeoutMs:
      queueTimeout === undefined ? base.queueTimeoutMs : resolveQueueTimeout(queueTimeout, refuse),
    deadline: deadline === undefined ? base.deadline : resolveDeadline(deadline, refuse),
  }
  const isLimited = Math.min(limits.timeoutMs, limits.queueTimeoutMs, limits.deadline) < NONE
  return isLimited ? limits : null
}

function resolveTimeout(given: unknown, refuse: Refuse): number {
  if (typeof given === 'number' && given > 0) return given
  return refuse('timeout', given, 'milliseconds: a number above 0, or Infinity for no limit')
}

function resolveQueueTimeout(given: unknown, refuse: Refuse): number {
  if (typeof given === 'number' && given >= 0) return given
  return refuse('queueTimeout', given, 'milliseconds: a number of at least 0, or Infinity for no limit')
}

function resolveDeadline(given: unknown, refuse: Refuse): number {
  const time = isDate(given) ? given.getTime() : given
  if (typeof time === 'number' && !Number.isNaN(time)) return time
  return refuse('deadline', given, 'a valid Date, or milliseconds of the epoch')
}
