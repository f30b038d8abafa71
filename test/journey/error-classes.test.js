// Errors of the classes in `errorClasses` arrive as instances of these classes. `callerStack` adds the place of the call to
// the stack of an error.
import assert from 'node:assert/strict'
import { InvalidOptionError, Pool, PoolError, WorkerExitError } from 'lido'
import { HttpError, made, NotFoundError } from '../fixtures/error-classes.js'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('failing.js')
const errorClasses = [HttpError, NotFoundError]

const options = { filename, minWorkers: 1, maxWorkers: 1 }

test('an error of a class in errorClasses arrives as an instance of that class, with its cause', async open => {
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

test('an error of a class outside errorClasses keeps its name, message and fields', async open => {
  const error = await rejection(open(options).run(undefined, { name: 'derived' }))
  assert.equal(Object.getPrototypeOf(error), Error.prototype)
  assert.deepEqual([error.name, error.message, error.status], ['NotFoundError', 'status 404', 404])
  const nearest = await rejection(
    open({ ...options, errorClasses: [HttpError] }).run(undefined, { name: 'derived' }),
  )
  assert.ok(nearest instanceof HttpError)
  assert.equal(nearest.name, 'NotFoundError')
})

test('a returned error arrives as structuredClone() copies it', async open => {
  const pool = open({ ...options, errorClasses })
  const { error } = await pool.run(undefined, { name: 'returned' })
  assert.ok(error instanceof RangeError)
  assert.equal(error.message, 'as a result')
})

for (const name of ['uncaught', 'unhandled']) {
  test(`an uncaught error in a worker rejects its task with an instance of its class (${name})`, async open => {
    const error = await rejection(open({ ...options, errorClasses }).run(500, { name }))
    assert.ok(error instanceof HttpError)
    assert.deepEqual([error.status, error.message], [500, 'status 500'])
  })
}

test('an error that a file throws at load is the cause of the rejection', async (open, t) => {
  const classes = new URL('../fixtures/error-classes.js', import.meta.url)
  const file = openFolder(t).write(
    'broken.mjs',
    `import { HttpError } from '${classes}'; throw new HttpError(1)`,
  )
  for (const options of [{ filename: file }, {}]) {
    const pool = open({ ...options, minWorkers: 1, maxWorkers: 1, errorClasses })
    const error = await rejection(pool.run(1, { filename: file }))
    assert.ok(error.cause instanceof HttpError, String(error.cause))
    assert.equal(error.cause.status, 1)
  }
})

test('callerStack appends the place of the call to the stack of a rejection', async open => {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, callerStack: true })
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

test('callerStack appends only one caller to an error that rejects several tasks', async open => {
  const pool = open({
    filename,
    minWorkers: 1,
    maxWorkers: 1,
    concurrentTasksPerWorker: 2,
    callerStack: true,
  })
  const errors = await Promise.all([1, 2].map(status => rejection(pool.run(status, { name: 'uncaught' }))))
  for (const error of errors) {
    if (error instanceof WorkerExitError) continue
    assert.equal(error.stack.split('submitted by').length, 2)
  }
})

test('the stack of a rejection names no caller without callerStack', async open => {
  const { stack } = await rejection(open({ filename, minWorkers: 1, maxWorkers: 1 }).run(500))
  assert.doesNotMatch(stack, /submitted by/)
})

test('the constructor refuses an item of errorClasses that is no error class', () => {
  assert.throws(
    () => new Pool({ errorClasses: [HttpError, Map] }),
    error => {
      assert.ok(error instanceof InvalidOptionError)
      assert.match(error.message, /Item 1/)
      return true
    },
  )
})
