// Translates the settlement of a task into a word of the oracle. An outcome has a word only when all its parts are right.
import { isDeepStrictEqual } from 'node:util'

const limitNames = {
  before: 'deadline',
  starting: 'queueTimeout',
  queued: 'queueTimeout',
  running: 'timeout',
}
export const reason = Object.freeze({ why: 'the case aborts its signal' })

/** The options of the call for a time limit that is over at the moment of the case. */
export function limitOptions(moment, limitMs) {
  switch (moment) {
    case 'before':
      return { deadline: Date.now() - 1 }
    case 'starting':
    case 'queued':
      return { queueTimeout: limitMs }
    case 'running':
    case 'answering':
      return { timeout: limitMs }
    default:
      return { timeout: 600_000, queueTimeout: 600_000, deadline: Date.now() + 600_000 }
  }
}

export function wordFor(settled, who, theCase) {
  if (settled.status === 'fulfilled') {
    const isRight =
      who === 'subject'
        ? theCase.outcome === 'returns' && isDeepStrictEqual(settled.value, { of: 'subject' })
        : settled.value === who
    return isRight ? 'answer' : `the value ${JSON.stringify(settled.value)}`
  }
  return wordForError(settled.reason, theCase) ?? `the error ${describe(settled.reason)}`
}

export function wordForError(error, theCase) {
  switch (error?.code) {
    case 'ERR_LIDO_TASK_CANCELLED':
      return error.reason === reason ? 'cancelled' : null
    case 'ERR_LIDO_TASK_TIMEOUT':
      return error.limit === limitNames[theCase.cancel.split(' ')[1]] ? 'limit' : null
    case 'ERR_LIDO_POOL_CLOSED':
      return error.reason
    case 'ERR_LIDO_WORKER_START':
      return isStartOf(theCase.fate, error.cause) ? 'start' : null
    case 'ERR_LIDO_WORKER_EXIT':
      return { 1: 'terminated', 3: 'exit', 7: 'exit' }[error.exitCode] ?? null
    case 'E_CRASH':
      return error instanceof RangeError ? 'crash' : null
    case 'E_OWN':
      return error instanceof RangeError && theCase.outcome === 'throws' ? 'answer' : null
    case 'ERR_LIDO_NOT_CLONEABLE':
      return error.path === `${theCase.way === 'stream' ? 'chunk' : 'result'}.items[0].call` &&
        theCase.outcome === 'unclonable'
        ? 'answer'
        : null
    default:
      return theCase.outcome === 'throwsData' && isDeepStrictEqual(error, { of: 'subject' }) ? 'answer' : null
  }
}

function isStartOf(fate, cause) {
  return fate === 'exitsAtStart' ? cause?.exitCode === 5 : cause instanceof RangeError
}

export function describe(error) {
  if (error === null || typeof error !== 'object') return String(error)
  const { name, message, code, reason: why, exitCode, limit } = error
  return JSON.stringify({ name, message, code, reason: why, exitCode, limit })
}
