// What cannot be copied to the other thread rejects its own task, says where it is, and costs nobody else anything.
import assert from 'node:assert/strict'
import { NotCloneableError } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { Track } from '../helpers/track.js'

const paths = {
  function: '',
  symbol: '',
  nested: '.items[1].callback',
  weak: '',
  promise: '.inner',
  map: '.get("key")',
}

for (const [what, path] of Object.entries(paths)) {
  test(`a result that cannot be sent (${what}) says where; the worker keeps what it knows`, async open => {
    const pool = open({ filename: handler('uncloneable.js'), minThreads: 1, maxThreads: 1 })
    for (const name of ['default', 'later']) {
      const error = await rejection(pool.run(what, { name }))
      assert.ok(error instanceof NotCloneableError, String(error))
      assert.deepEqual([error.code, error.path], ['ERR_LIDO_NOT_CLONEABLE', `result${path}`])
      assert.ok(error.message.startsWith(`result${path}`))
    }
    assert.equal(await pool.run(undefined, { name: 'count' }), 2)
    assert.equal(pool.workers[0].id, 1)
  })
}

test('a result that throws while it is read, or that cannot be moved, rejects alone too', async open => {
  const pool = open({ filename: handler('uncloneable.js'), minThreads: 1, maxThreads: 1 })
  for (const what of ['moved', 'getter']) await assert.rejects(pool.run(what), NotCloneableError, what)
  assert.equal(await pool.run(undefined, { name: 'count' }), 2)
})

test('a result that cannot be sent fails no other task of its worker', async open => {
  const track = new Track(2)
  const filename = handler('uncloneable.js')
  const pool = open({ filename, minThreads: 1, maxThreads: 1, concurrentTasksPerWorker: 3 })
  const patient = { filename: handler('tracked.js'), name: 'patient' }
  const neighbours = [0, 1].map(index => pool.run(track.task(index), patient))
  await track.starts(2)
  await assert.rejects(pool.run('nested'), NotCloneableError)
  track.releaseAll()
  assert.deepEqual(await Promise.all(neighbours), [0, 1])
})

const payloads = {
  'a function': [() => {}, 'payload'],
  'a symbol': [Symbol('payload'), 'payload'],
  'a function inside': [{ list: [0, { 'odd key': () => {} }] }, 'payload.list[1]["odd key"]'],
  'a promise inside': [{ wait: Promise.resolve() }, 'payload.wait'],
  'a proxy inside': [{ proxy: new Proxy({}, {}) }, 'payload.proxy'],
}

for (const [what, [payload, path]] of Object.entries(payloads)) {
  test(`${what} as payload rejects, never throws, and its neighbours in the queue run`, async open => {
    const track = new Track(3)
    const pool = open({ filename: handler('tracked.js'), minThreads: 1, maxThreads: 1 })
    const answers = [0, 1].map(index => pool.run(track.task(index)))
    const bad = pool.run(payload)
    answers.push(pool.run(track.task(2)))
    track.releaseAll()
    const error = await rejection(bad)
    assert.ok(error instanceof NotCloneableError, String(error))
    assert.equal(error.path, path)
    assert.deepEqual(await Promise.all(answers), [0, 1, 2])
    assert.equal(pool.workers[0].id, 1)
  })
}

test('a payload that cannot be sent rejects on a cold pool too, and with a transfer list', async open => {
  const pool = open({ filename: handler('echo.js'), minThreads: 0, maxThreads: 1 })
  const buffer = new ArrayBuffer(8)
  await assert.rejects(pool.run({ bad() {} }), NotCloneableError)
  await assert.rejects(pool.run({ bad() {}, buffer }, { transferList: [buffer] }), NotCloneableError)
  assert.equal(buffer.byteLength, 8)
  assert.equal(await pool.run('x'), 'x')
})

test('a payload that throws while it is read rejects with that as the cause', async open => {
  const pool = open({ filename: handler('echo.js'), minThreads: 1, maxThreads: 1 })
  const payload = {
    get bad() {
      throw new RangeError('not to be read')
    },
  }
  const error = await rejection(pool.run(payload))
  assert.ok(error instanceof NotCloneableError)
  assert.equal(error.cause.message, 'not to be read')
  assert.equal(await pool.run('x'), 'x')
})

test('a worker that posts what cannot be sent to its parent port fails as its handler says', async open => {
  const pool = open({ filename: handler('parent-port.js'), minThreads: 1, maxThreads: 1 })
  assert.equal((await rejection(pool.run('x', { name: 'sayFunction' }))).name, 'DataCloneError')
  assert.equal(await pool.run('x'), 'answered')
})

const deepest = 3000

function makeReasons() {
  class Link {
    constructor(next) {
      this.next = next
    }
  }
  let chain = null
  for (let depth = 0; depth < deepest; depth++) chain = new Link(chain)
  const code = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)
  return { chain, wasm: new WebAssembly.Module(code) }
}

for (const options of [{}, { lane: false }, { backend: 'process' }]) {
  for (const [what, held] of Object.entries(makeReasons())) {
    test(`a reason that a worker cannot read (${what}) is heard, and harms no task (${JSON.stringify(options)})`, async open => {
      const one = {
        minThreads: 1,
        maxThreads: 1,
        concurrentTasksPerWorker: 4,
        cancelGrace: Number.POSITIVE_INFINITY,
      }
      const pool = open({ filename: handler('cancellable.js'), ...one, ...options })
      const controller = new AbortController()
      const cancelled = rejection(pool.run(null, { name: 'listen', signal: controller.signal }))
      // Tasks begin in order: with this one answered, the first has begun.
      assert.deepEqual(await pool.run(null, { name: 'whatWasHeard' }), [])
      controller.abort(Object.assign(new Error('the reason'), { held }))
      await cancelled
      const next = await Promise.all([1, 2, 3].map(() => pool.run(null, { name: 'whatWasHeard' })))
      assert.deepEqual(next.at(-1), ['the reason'])
      const unsendable = await rejection(pool.run(() => {}, { name: 'whatWasHeard' }))
      assert.ok(unsendable instanceof NotCloneableError)
    })
  }
}
