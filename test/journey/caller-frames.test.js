// The stack of an error starts at the line of the caller, without frames of lido above that line.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Pool, TaskCancelledError, TaskTimeoutError, WorkerExitError } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { reached, sharedWords } from '../helpers/shared-words.js'

const dist = dirname(dirname(fileURLToPath(import.meta.resolve('lido'))))
const filename = handler('echo.js')

const framesOf = ({ stack }) => stack.split('\n').filter(line => /^ {4}at /.test(line))

/** Code that throws in a constructor. The next two tables hold calls on an open pool and on a closed pool. */
const constructions = {
  'an unknown option of the pool': () => new Pool({ maxThread: 1 }),
  'a wrong value of an option': () => new Pool({ maxWorkers: 'many' }),
}
const wrongCalls = {
  'an unknown option of run()': pool => pool.run(1, { nam: 'x' }),
  'a wrong file of run()': pool => pool.run(1, { filename: 'relative.js' }),
  'a deadline in the past': pool => pool.run(1, { deadline: 1 }),
  'an aborted signal': pool => pool.run(1, { signal: AbortSignal.abort() }),
  'a wrong option of room()': pool => pool.room({ signal: 1 }),
  'a wrong option of resize()': async pool => pool.resize({ maxWorkers: 0 }),
  'a wrong option of close()': pool => pool.close({ force: 'yes' }),
}
const lateCalls = {
  'run() on a closed pool': pool => pool.run(1),
  'room() on a closed pool': pool => pool.room(),
  'resize() on a closed pool': async pool => pool.resize({ maxWorkers: 2 }),
  'recycle() on a closed pool': pool => pool.recycle(),
  'reload() on a closed pool': pool => pool.reload(),
}

function assertBeginsHere(error) {
  assert.match(framesOf(error)[0] ?? 'no frame', /caller-frames\.test\.js/, error.stack)
}

for (const [title, construct] of Object.entries(constructions)) {
  test(`the stack of the error for ${title} starts at the line of the caller`, () => {
    assert.throws(construct, error => {
      assertBeginsHere(error)
      return true
    })
  })
}

for (const [title, call] of Object.entries(wrongCalls)) {
  test(`the stack of the error for ${title} starts at the line of the caller`, async open => {
    assertBeginsHere(await rejection(call(open({ filename, minWorkers: 0, maxWorkers: 1 }))))
  })
}

for (const [title, call] of Object.entries(lateCalls)) {
  test(`the stack of the error for ${title} starts at the line of the caller`, async open => {
    const pool = open({ filename, minWorkers: 0, maxWorkers: 1 })
    await pool.close()
    assertBeginsHere(await rejection(call(pool)))
  })
}

test('the stack of the error for a full queue starts at the line of the caller', async open => {
  const pool = open({ filename, minWorkers: 0, maxWorkers: 1, maxQueue: 0 })
  const first = pool.run(1)
  assertBeginsHere(await rejection(pool.run(2)))
  await first
})

test('the stack of an exit, timeout or cancellation error holds no frames of lido', async open => {
  const pool = open({ filename: handler('dying.js'), maxWorkers: 1 })
  const exit = await rejection(pool.run(5))
  assert.ok(exit instanceof WorkerExitError)
  const slow = { filename: handler('cancellable.js'), name: 'listen' }
  const timeout = await rejection(pool.run(1, { ...slow, timeout: 1 }))
  assert.ok(timeout instanceof TaskTimeoutError)
  const controller = new AbortController()
  const cancelled = rejection(pool.run(1, { ...slow, signal: controller.signal }))
  controller.abort()
  assert.ok((await cancelled) instanceof TaskCancelledError)
  for (const error of [exit, timeout, await cancelled]) {
    assert.ok(error.stack.startsWith(`${error.name}: ${error.message}`), error.stack)
    assert.deepEqual(
      framesOf(error).filter(frame => frame.includes(dist)),
      [],
    )
  }
})

test('the stack of the error from throwIfCancelled() starts in the handler', async open => {
  const pool = open({ filename: handler('cancellable.js'), maxWorkers: 1 })
  const words = sharedWords(2)
  const { port1, port2 } = new MessageChannel()
  const controller = new AbortController()
  const options = { name: 'tellStack', signal: controller.signal, transferList: [port2] }
  const cancelled = rejection(pool.run({ words, stacks: port2 }, options))
  await reached(words, 0)
  const [[stack]] = await Promise.all([once(port1, 'message'), controller.abort()])
  port1.close()
  await cancelled
  assert.match(framesOf({ stack })[0] ?? 'no frame', /tellStack.*cancellable\.js/, stack)
})

test('a TaskCancelledError is no TaskTimeoutError, and a TaskTimeoutError is no TaskCancelledError', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const cancelled = await rejection(pool.run(1, { signal: AbortSignal.abort() }))
  const late = await rejection(pool.run(1, { deadline: 1 }))
  assert.deepEqual(
    [cancelled, late].map(error => [error instanceof TaskCancelledError, error instanceof TaskTimeoutError]),
    [
      [true, false],
      [false, true],
    ],
  )
})
