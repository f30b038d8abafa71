import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as errors from './pool-errors.js'

const cause = new Error('the cause')
const handler = { filename: '/handler.js', name: 'work' }

const cases: Record<
  string,
  { error: errors.PoolError; code: string; name?: string; fields: Record<string, unknown> }
> = {
  InvalidOptionError: {
    error: new errors.InvalidOptionError('maxWorkers', 'must be more', cause),
    code: 'ERR_LIDO_INVALID_OPTION',
    fields: { option: 'maxWorkers', cause },
  },
  InvalidTaskError: {
    error: new errors.InvalidTaskError('name', 'must be text', cause),
    code: 'ERR_LIDO_INVALID_TASK',
    fields: { option: 'name', cause },
  },
  QueueFullError: { error: new errors.QueueFullError(7), code: 'ERR_LIDO_QUEUE_FULL', fields: { limit: 7 } },
  PoolClosedError: {
    error: new errors.PoolClosedError('forced'),
    code: 'ERR_LIDO_POOL_CLOSED',
    fields: { reason: 'forced' },
  },
  TaskCancelledError: {
    error: new errors.TaskCancelledError(cause),
    code: 'ERR_LIDO_TASK_CANCELLED',
    name: 'AbortError',
    fields: { reason: cause, cause },
  },
  TaskTimeoutError: {
    error: new errors.TaskTimeoutError('queueTimeout', 50),
    code: 'ERR_LIDO_TASK_TIMEOUT',
    name: 'TimeoutError',
    fields: { limit: 'queueTimeout', limitMs: 50, cause: undefined },
  },
  WorkerStartError: {
    error: new errors.WorkerStartError(3, handler, 'load', cause),
    code: 'ERR_LIDO_WORKER_START',
    fields: { workerId: 3, filename: '/handler.js', handlerName: 'work', stage: 'load', cause },
  },
  WorkerExitError: {
    error: new errors.WorkerExitError(3, 9, cause),
    code: 'ERR_LIDO_WORKER_EXIT',
    fields: { workerId: 3, exitCode: 9, cause },
  },
  WorkerMemoryError: {
    error: new errors.WorkerMemoryError(3, cause),
    code: 'ERR_WORKER_OUT_OF_MEMORY',
    fields: { workerId: 3, cause },
  },
  NotCloneableError: {
    error: new errors.NotCloneableError('payload.call', cause),
    code: 'ERR_LIDO_NOT_CLONEABLE',
    fields: { path: 'payload.call', cause },
  },
  RestartLimitError: {
    error: new errors.RestartLimitError(3, { failures: 5, period: 10_000, retryAfter: 90 }, cause),
    code: 'ERR_LIDO_RESTART_LIMIT',
    fields: { workerId: 3, failures: 5, period: 10_000, retryAfter: 90, cause },
  },
  TaskQuarantinedError: {
    error: new errors.TaskQuarantinedError(2, cause),
    code: 'ERR_LIDO_TASK_QUARANTINED',
    fields: { workers: 2, cause },
  },
  TeardownError: {
    error: new errors.TeardownError(3, 100, cause),
    code: 'ERR_LIDO_TEARDOWN',
    fields: { workerId: 3, cause },
  },
}

for (const [name, { error, code, name: shown = name, fields }] of Object.entries(cases)) {
  test(`${name} is a PoolError with its code, name and fields`, () => {
    assert.ok(error instanceof errors.PoolError)
    assert.ok(errors.isPoolError(error))
    assert.equal(error.code, code)
    assert.equal(error.name, shown)
    for (const [field, value] of Object.entries(fields)) {
      assert.equal((error as unknown as Record<string, unknown>)[field], value, field)
    }
    assert.ok(error.message.length > 10)
    assert.ok(error.stack?.includes(error.message.slice(0, 40)))
  })
}

test('the cases of this file contain every error class of the package', () => {
  const abstract = ['PoolError', 'WorkerError']
  const classes = Object.entries(errors).filter(
    ([, value]) => typeof value === 'function' && value.prototype instanceof Error,
  )
  assert.deepEqual(
    classes
      .map(([name]) => name)
      .filter(name => !abstract.includes(name))
      .sort(),
    Object.keys(cases).sort(),
  )
})

test('an error without a cause has no own field cause', () => {
  assert.equal(Object.hasOwn(new errors.QueueFullError(1), 'cause'), false)
})

test('the message of a RestartLimitError names the next attempt only when there is one', () => {
  const limits = { failures: 5, period: 10_000 }
  const { RestartLimitError } = errors
  assert.match(
    new RestartLimitError(3, { ...limits, retryAfter: 90 }, cause).message,
    /no worker for 90 ms; the first call after that tries again\. Change these limits with the option 'restart'/,
  )
  assert.match(
    new RestartLimitError(3, { ...limits, retryAfter: Number.POSITIVE_INFINITY }, cause).message,
    /The pool starts no more workers\. Change these limits with the option 'restart'/,
  )
})

test('the message of a WorkerExitError gives the same hint for a signal and for the exit code of Windows', () => {
  const { WorkerExitError } = errors
  const messageOf = (exitCode: number, signal: string | null = null) =>
    new WorkerExitError(3, exitCode, cause, signal).message
  for (const message of [messageOf(134, 'SIGABRT'), messageOf(134)])
    assert.match(message, /Read stderr for a fatal error/)
  for (const message of [messageOf(139, 'SIGSEGV'), messageOf(3221225477)])
    assert.match(message, /Look for native code in the handler/)
  assert.match(messageOf(3), /Look for process\.exit\(\)/)
})

describe('isPoolError()', () => {
  test("isPoolError() is false for other values, and for a handler's error with a code", () => {
    for (const value of [
      null,
      undefined,
      1,
      'x',
      {},
      cause,
      Object.assign(new Error('x'), { code: 'ERR_LIDO_X' }),
    ]) {
      assert.equal(errors.isPoolError(value), false)
    }
  })

  test('isPoolError() is true for an error of another copy of the package', async () => {
    const copy = (await import(`${import.meta.resolve('./pool-errors.js')}?copy`)) as typeof errors
    assert.notEqual(copy.PoolError, errors.PoolError)
    assert.ok(errors.isPoolError(new copy.QueueFullError(1)))
  })
})
