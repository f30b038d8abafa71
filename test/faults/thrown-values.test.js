// Whatever a handler throws is what its caller gets, as near to it as another thread allows; the worker lives on.
import assert from 'node:assert/strict'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('throwing.js')

const promises = {
  null: reason => assert.equal(reason, null),
  undefined: reason => assert.equal(reason, undefined),
  string: reason => assert.equal(reason, 'a string'),
  number: reason => assert.equal(reason, 0),
  bigint: reason => assert.equal(reason, 10n),
  symbol: reason => assert.match(String(reason), /Symbol\(thrown\)/),
  function: reason => assert.match(String(reason), /thrownFunction/),
  object: reason => assert.deepEqual(reason, { code: 'E_PLAIN', nested: { a: 1 } }),
  range(error) {
    assert.ok(error instanceof RangeError)
    assert.deepEqual([error.name, error.message, error.code], ['RangeError', 'out of range', 'E_OWN'])
    assert.deepEqual(error.data, { list: [1, 2] })
    assert.match(error.stack, /throwing\.js/)
    assert.deepEqual(Object.keys(error), ['code', 'data'])
  },
  custom(error) {
    assert.ok(error instanceof Error)
    assert.deepEqual([error.name, error.message, error.field], ['ValidationError', 'not valid', 'field'])
  },
  cause(error) {
    assert.equal(error.message, 'outer')
    assert.ok(error.cause instanceof TypeError)
    assert.deepEqual([error.cause.message, error.cause.cause], ['middle', 'innermost'])
    assert.equal(Object.keys(error).includes('cause'), false)
  },
  aggregate(error) {
    assert.ok(error instanceof AggregateError)
    assert.equal(error.message, 'several')
    assert.ok(error.errors[0] instanceof RangeError)
    assert.deepEqual(
      [error.errors.length, error.errors[0].message, ...error.errors.slice(1)],
      [3, 'first', null, 'third'],
    )
  },
  dom(error) {
    assert.ok(error instanceof DOMException)
    assert.deepEqual([error.name, error.message, error.code], ['AbortError', 'not now', 20])
  },
  functions(error) {
    assert.ok(error instanceof Error)
    assert.deepEqual(
      [error.message, error.kept, error.retry, error.details],
      ['with functions', 1, '[function retry]', { socket: '[Socket, not cloneable]', port: 80 }],
    )
  },
  cycle: error => assert.deepEqual([error.message, error.cause, error.self], ['cyclic', error, error]),
  web(error) {
    assert.deepEqual(
      [error instanceof AggregateError, error.message, error.errors.length],
      [true, 'a web', 200],
    )
    assert.match(String(error.errors[199]), /part 199/)
    assert.equal(error.errors[199].whole, error)
  },
  getter: error => assert.deepEqual([error instanceof Error, error.message], [true, 'with a getter']),
  deep: error => assert.deepEqual([error instanceof Error, error.message], [true, 'with deep data']),
  overflow: error => assert.ok(error instanceof RangeError),
  hostile: reason => assert.notEqual(reason, undefined),
}

for (const lane of [true, false]) {
  for (const [what, check] of Object.entries(promises)) {
    test(`a handler that throws ${what} rejects with just that, thrown at once or later, and its worker lives (lane: ${lane})`, async open => {
      const pool = open({ filename, minThreads: 1, maxThreads: 1, lane })
      check(await rejection(pool.run(what)))
      check(await rejection(pool.run(what, { name: 'later' })))
      assert.equal(await pool.run('next', { name: 'fine' }), 'next')
      assert.equal(pool.workers[0].id, 1)
    })
  }
}

test('errors of many tasks go each to its own caller', async open => {
  const pool = open({ filename, minThreads: 2, maxThreads: 2, concurrentTasksPerWorker: 3 })
  const names = ['null', 'string', 'range', 'custom', 'aggregate']
  const calls = Array.from({ length: 50 }, (_, index) => names[index % names.length])
  const reasons = await Promise.all(calls.map(name => rejection(pool.run(name, { name: 'later' }))))
  for (const [index, reason] of reasons.entries()) promises[calls[index]](reason)
})

test('a thenable is awaited like a promise, and answers once', async open => {
  const pool = open({ filename, minThreads: 1, maxThreads: 1 })
  assert.equal(await pool.run('x', { name: 'thenable' }), 'x')
  assert.equal(await pool.run('x', { name: 'thenableTwice' }), 'x')
  assert.equal(await pool.run('next', { name: 'fine' }), 'next')
})

for (const name of ['thenableThatThrows', 'thenGetterThatThrows']) {
  test(`a thenable that throws rejects its task and costs the worker nothing (${name})`, async open => {
    const pool = open({ filename, minThreads: 1, maxThreads: 1 })
    const error = await rejection(pool.run('from then', { name }))
    assert.equal(error.message, 'from then')
    assert.equal(await pool.run('next', { name: 'fine' }), 'next')
    assert.equal(pool.workers[0].id, 1)
  })
}

for (const backend of ['thread', 'process', 'inline']) {
  test(`${backend}: a promise with a then() of its own is awaited as await does it`, async open => {
    const pool = open({ filename, minThreads: 1, maxThreads: 1, backend })
    assert.equal(await pool.run('x', { name: 'promiseWithOwnThen' }), 'x')
    assert.equal(await pool.run('next', { name: 'fine' }), 'next')
    assert.equal(pool.workers[0].id, 1)
  })
}

test('an error has its class where the intrinsics are frozen', async () => {
  const program = `
    const pool = new Pool({ filename: handler('throwing.js'), maxThreads: 1 })
    const error = await pool.run('range').catch(error => error)
    console.log(error instanceof RangeError, Object.keys(error).join())`
  const { output, errors } = await runProgram(program, { nodeArguments: ['--frozen-intrinsics'] })
  assert.equal(output, 'true code,data\n', errors)
})
