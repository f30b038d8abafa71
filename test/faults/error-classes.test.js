// Classes of the user's own cross by name; where the task was submitted is told where the pool asks for it.
import assert from 'node:assert/strict'
import { InvalidOptionError, Pool, PoolError, WorkerExitError } from 'lido'
import { HttpError, made, NotFoundError } from '../fixtures/error-classes.js'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('failing.js')
const errorClasses = [HttpError, NotFoundError]

for (const lane of [true, false]) {
  const options = { filename, minThreads: 1, maxThreads: 1, lane }

  test(`an error of a class that the pool knows is an instance of it, its cause too (lane: ${lane})`, async open => {
    const pool = open({ ...options, errorClasses })
    const before = made
    const error = await rejection(pool.run(503))
    assert.ok(error instanceof HttpError)
    assert.deepEqual([error.message, error.status, error.isServers], ['status 503', 503, true])
    assert.match(error.stack, /failing\.js/)
    assert.ok(error.cause instanceof NotFoundError)
    assert.deepEqual([error.cause.name, error.cause.status], ['NotFoundError', 404])
    assert.equal(made, before, 'no constructor ran here')
  })

  test(`an error of a class that the pool does not know keeps name, message and fields (lane: ${lane})`, async open => {
    const error = await rejection(open(options).run(undefined, { name: 'derived' }))
    assert.equal(Object.getPrototypeOf(error), Error.prototype)
    assert.deepEqual([error.name, error.message, error.status], ['NotFoundError', 'status 404', 404])
    const nearest = await rejection(
      open({ ...options, errorClasses: [HttpError] }).run(undefined, { name: 'derived' }),
    )
    assert.ok(nearest instanceof HttpError)
    assert.equal(nearest.name, 'NotFoundError')
  })

  test(`an error that is given or returned, not thrown, is data as for structuredClone (lane: ${lane})`, async open => {
    const pool = open({ ...options, errorClasses })
    const { error } = await pool.run(undefined, { name: 'returned' })
    assert.ok(error instanceof RangeError)
    assert.equal(error.message, 'as a result')
  })

  for (const name of ['uncaught', 'unhandled']) {
    test(`what nobody caught in the worker rejects its task as what it was (${name}, lane: ${lane})`, async open => {
      const error = await rejection(open({ ...options, errorClasses }).run(500, { name }))
      assert.ok(error instanceof HttpError)
      assert.deepEqual([error.status, error.message], [500, 'status 500'])
    })
  }
}

test('a file that throws one of these classes while it loads has it as the cause', async (open, t) => {
  const classes = new URL('../fixtures/error-classes.js', import.meta.url)
  const file = openFolder(t).write(
    'broken.mjs',
    `import { HttpError } from '${classes}'; throw new HttpError(1)`,
  )
  for (const options of [{ filename: file }, {}]) {
    const pool = open({ ...options, minThreads: 1, maxThreads: 1, errorClasses })
    const error = await rejection(pool.run(1, { filename: file }))
    assert.ok(error.cause instanceof HttpError, String(error.cause))
    assert.equal(error.cause.status, 1)
  }
})

test('with callerStack a rejection tells where its task was submitted, below where it failed', async open => {
  const pool = open({ filename, minThreads: 1, maxThreads: 1, callerStack: true })
  async function submitsHere(...args) {
    return await pool.run(...args)
  }
  const { stack } = await rejection(submitsHere(500))
  assert.match(stack, /failing\.js.*--- submitted by ---\n +at .*submitsHere/s)
  assert.match(stack.slice(stack.indexOf('---')), /error-classes\.test\.js/)
  assert.doesNotMatch(stack.slice(stack.indexOf('---')), /Pool\.run/)
  const { reason } = await pool.run(undefined, { name: 'missing' }).then(
    () => assert.fail(),
    reason => ({ reason }),
  )
  assert.ok(reason instanceof PoolError)
  assert.match(reason.stack, /submitted by/)
  assert.deepEqual((await pool.run(undefined, { name: 'returned' })).error.message, 'as a result')
})

test('with callerStack a rejection arrives where nobody can read a stack', async (open, t) => {
  const { prepareStackTrace } = Error
  t.after(() => {
    Error.prepareStackTrace = prepareStackTrace
  })
  const pool = open({ filename, minThreads: 1, maxThreads: 1, callerStack: true })
  Error.prepareStackTrace = () => {
    throw new Error('of another')
  }
  const reasons = [await rejection(pool.run(1, { name: 'missing' }))]
  const last = rejection(pool.run(500))
  await pool.destroy()
  reasons.push(await last)
  Error.prepareStackTrace = prepareStackTrace
  assert.deepEqual(
    reasons.map(({ code }) => code),
    ['ERR_LIDO_WORKER_START', 'ERR_LIDO_POOL_CLOSED'],
  )
})

test('with callerStack what is no error arrives as without', async open => {
  const pool = open({ filename: handler('throwing.js'), minThreads: 1, maxThreads: 1, callerStack: true })
  assert.equal(await rejection(pool.run('null')), null)
  assert.equal(await rejection(pool.run('string')), 'a string')
})

test('one error that ended several tasks tells of its first caller only', async open => {
  const pool = open({
    filename,
    minThreads: 1,
    maxThreads: 1,
    concurrentTasksPerWorker: 2,
    callerStack: true,
  })
  const errors = await Promise.all([1, 2].map(status => rejection(pool.run(status, { name: 'uncaught' }))))
  for (const error of errors) {
    if (error instanceof WorkerExitError) continue
    assert.equal(error.stack.split('submitted by').length, 2)
  }
})

test('without callerStack the stack is that of the worker', async open => {
  const { stack } = await rejection(open({ filename, minThreads: 1, maxThreads: 1 }).run(500))
  assert.doesNotMatch(stack, /submitted by/)
})

test('what is no class of errors is refused, by its place', () => {
  assert.throws(
    () => new Pool({ errorClasses: [HttpError, Map] }),
    error => {
      assert.ok(error instanceof InvalidOptionError)
      assert.match(error.message, /item 1/)
      return true
    },
  )
})
