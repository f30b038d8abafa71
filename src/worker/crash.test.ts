// Which exceptions end a worker, and who hears of them.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { watchCrash } from './crash.js'

/** A process without the test runner's own listeners, until the test ends. */
function setUp(t: TestContext) {
  const names = ['uncaughtException', 'uncaughtExceptionMonitor'] as const
  const own = names.map(name => [name, process.rawListeners(name)] as const)
  for (const name of names) process.removeAllListeners(name)
  t.after(() => {
    for (const [name, listeners] of own) {
      process.removeAllListeners(name)
      for (const listener of listeners) process.on(name, listener as () => void)
    }
  })
  return (failure: Error) =>
    void (process as NodeJS.EventEmitter).emit('uncaughtExceptionMonitor', failure, 'uncaughtException')
}

test('what the user’s own code catches is no crash', t => {
  const crash = setUp(t)
  const told: unknown[] = []
  watchCrash(failure => told.push(failure))
  const listener = () => {}
  process.on('uncaughtException', listener)
  crash(new Error('caught by a listener'))
  process.off('uncaughtException', listener)
  process.setUncaughtExceptionCaptureCallback(listener)
  crash(new Error('captured'))
  process.setUncaughtExceptionCaptureCallback(null)
  assert.deepEqual(told, [])
  const failure = new Error('nobody’s')
  crash(failure)
  assert.deepEqual(told, [failure])
})

test('all that listen hear of a crash before its end, and in their way', t => {
  const crash = setUp(t)
  const told: unknown[] = []
  process.on('uncaughtExceptionMonitor', () => told.push('earlier'))
  watchCrash(
    () => told.push('host'),
    () => told.push('end'),
  )
  process.on('uncaughtExceptionMonitor', () => {
    told.push('throws')
    throw new Error('of a listener')
  })
  process.on('uncaughtExceptionMonitor', function (this: unknown, failure, origin) {
    told.push(this === process, failure.message, origin)
  })
  assert.throws(() => crash(new Error('why')), /of a listener/)
  assert.deepEqual(told.slice(0, 7), ['earlier', 'host', 'throws', true, 'why', 'uncaughtException', 'end'])
})
