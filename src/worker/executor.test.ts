// Each task has one answer, after what was printed before it, whatever its handler is or does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { unpack } from '../shared/errors/remote-error.js'
import type { Assignment } from './assignment.js'
import { Executor, type ExecutorHooks } from './executor.js'
import type { HandlerFunction } from './handler-loader.js'
import { Limits } from './limits.js'

/** Notes in its log what becomes of its tasks; what they print is written when the test says so. */
function setUp(handler: HandlerFunction | null, hooks: Partial<ExecutorHooks> = {}) {
  const log: string[] = []
  let flushed: Promise<void> | undefined
  let write = () => {}
  const executor = new Executor(
    {
      load: async () => handler,
      onStale: () => log.push('stale'),
      onEnd: () => log.push('end'),
      flush: () => flushed,
      ...hooks,
    },
    false,
  )
  const task = (name: string, isCancelled = () => false): Assignment => ({
    handlerId: 1,
    handler: { filename: 'file', name: 'default' },
    payload: name,
    get isCancelled() {
      return isCancelled()
    },
    cancelReason: undefined,
    makeSignal: () => new AbortController().signal,
    markLoading: isLoading => log.push(`${name} ${isLoading ? 'loading' : 'loaded'}`),
    onPending: () => log.push(`${name} pending`),
    holdTime() {
      log.push(`${name} held`)
      return () => log.push(`${name} resumed`)
    },
    succeed: result => log.push(`${name} = ${result}`),
    fail: (reason, error) => log.push(`${name} ${reason}: ${unpack(error)}`),
  })
  /** What was logged since it was asked last. */
  const news = async () => {
    await turn()
    return log.splice(0)
  }
  return {
    executor,
    task,
    log,
    news,
    print: () => {
      flushed = new Promise(resolve => {
        write = resolve
      })
    },
    write: () => write(),
  }
}

const ways: [string, boolean, HandlerFunction, string[]][] = [
  ['returns', false, payload => payload, ['a = a']],
  [
    'throws',
    false,
    () => {
      throw 'bad'
    },
    ['a thrown: bad'],
  ],
  ['resolves', true, async payload => payload, ['a = a']],
  ['rejects', true, () => Promise.reject('bad'), ['a thrown: bad']],
  [
    'returns a function that can be awaited',
    true,
    () => Object.assign(() => {}, { then: (resolve: (value: string) => void) => resolve('late') }),
    ['a = late'],
  ],
  [
    'returns what throws when it is asked whether it can be awaited',
    false,
    () => ({
      get then() {
        throw 'bad'
      },
    }),
    ['a thrown: bad'],
  ],
]
for (const [what, isPending, handler, answer] of ways) {
  test(`what was printed goes before the answer of a handler that ${what}, and its time does not count`, async () => {
    const { executor, task, news, print, write } = setUp(handler)
    executor.run(task('first'))
    await news()
    print()
    executor.run(task('a'))
    const heard = await news()
    assert.deepEqual(heard, isPending ? ['a pending', 'a held'] : ['a held'])
    write()
    assert.deepEqual(await news(), ['a resumed', ...answer])
    executor.end()
    assert.deepEqual(await news(), ['end'])
  })
}

test('an end gives the answers that wait, once, when no more tasks are taken', async () => {
  const { executor, task, log, news, print, write } = setUp(payload => payload)
  executor.run(task('first'))
  await news()
  print()
  executor.run(task('a'))
  executor.run(task('b'))
  assert.deepEqual(await news(), ['a held', 'b held'])
  executor.end()
  assert.deepEqual(log.splice(0), ['end', 'a resumed', 'a = a', 'b resumed', 'b = b'])
  write()
  assert.deepEqual(await news(), [])
})

test('a file is loaded for a task, and all that wait for it have it before one of them runs', async () => {
  let loads = 0
  const handler: HandlerFunction = payload => {
    log.push(`${payload} runs`)
    return payload
  }
  let isRead = () => {}
  const file = new Promise<void>(resolve => {
    isRead = resolve
  })
  const { executor, task, log, news } = setUp(handler, {
    async load() {
      loads++
      await file
      return handler
    },
  })
  executor.run(task('a'))
  executor.run(task('b', () => loads === 2))
  assert.deepEqual(await news(), ['a loading', 'b loading'])
  isRead()
  assert.deepEqual(await news(), ['a loaded', 'b loaded', 'a runs', 'a = a', 'b = undefined'])
  executor.run(task('c'))
  assert.deepEqual([await news(), loads], [['c runs', 'c = c'], 2])
})

test('a file that does not load, and a name that it does not have, end their tasks, and are asked for again', async () => {
  let loads = 0
  const failing = setUp(null, { load: () => Promise.reject(`bad ${++loads}`) })
  for (const name of ['a', 'b']) {
    failing.executor.run(failing.task(name))
    const answer = `${name} load: bad ${loads}`
    assert.deepEqual(await failing.news(), [`${name} loading`, `${name} loaded`, answer])
  }
  const missing = setUp(null)
  missing.executor.run(missing.task('a'))
  assert.deepEqual(await missing.news(), ['a loading', 'a loaded', 'a missing: undefined'])
})

test('a worker may begin so many tasks and says so once, those whose file is still to be loaded counted', async () => {
  const { executor, task, log, news } = setUp(payload => payload)
  executor.limits = new Limits(
    { tasks: 2, bytes: Number.POSITIVE_INFINITY },
    () => log.push('spent'),
    () => {},
  )
  executor.run(task('a'))
  assert.deepEqual(await news(), ['a loading', 'a loaded', 'a = a'])
  executor.run(task('b'))
  executor.run(task('c'))
  assert.deepEqual(await news(), ['spent', 'b = b', 'c = c'])
})
