// A transferred buffer is detached in the host and whole in the worker, also deep inside a value. A rejected call detaches nothing.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import {
  move,
  NotCloneableError,
  PoolClosedError,
  QueueFullError,
  transferableSymbol,
  valueSymbol,
} from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { Track } from '../helpers/track.js'

const size = 1024

test('a payload wrapped in move() arrives whole and is detached in the host', async open => {
  const pool = open({ filename: handler('moving.js'), name: 'sizeOf', maxWorkers: 1 })
  const buffer = new ArrayBuffer(size)
  assert.equal(await pool.run(move(buffer)), size)
  assert.equal(buffer.byteLength, 0)
  const view = new Uint8Array(size)
  assert.equal(await pool.run(move(view)), size)
  assert.equal(view.byteLength, 0)
})

test('the error for a buffer that was moved before says so', async open => {
  const pool = open({ filename: handler('moving.js'), name: 'sizeOf', maxWorkers: 1 })
  const buffer = new ArrayBuffer(size)
  assert.equal(await pool.run(move(buffer)), size)
  await assert.rejects(pool.run(move(buffer)), /was moved before. Create a new buffer/)
  await assert.rejects(pool.run({ buffer }), /was moved before. Create a new buffer/)
})

test('a buffer of transferList arrives whole and is detached in the host', async open => {
  const pool = open({ filename: handler('moving.js'), name: 'sizeOf', maxWorkers: 1 })
  const buffer = new ArrayBuffer(size)
  assert.equal(await pool.run(buffer, { transferList: [buffer] }), size)
  assert.equal(buffer.byteLength, 0)
})

test('a result wrapped in move() arrives whole and is detached in the worker', async open => {
  const pool = open({ filename: handler('moving.js'), maxWorkers: 1 })
  const bytes = await pool.run(size)
  assert.equal(bytes.length, size)
  assert.ok(bytes.every(byte => byte === 7))
  assert.equal(await pool.run(undefined, { name: 'left' }), 0)
})

test('a MessagePort can be transferred to a worker and from a worker', async open => {
  const pool = open({ filename: handler('moving.js'), maxWorkers: 1 })
  const { port1, port2 } = new MessageChannel()
  const said = once(port1, 'message')
  await pool.run({ port: port2 }, { name: 'inPort', transferList: [port2] })
  assert.equal((await said)[0], 'from the worker')
  const port = await pool.run(undefined, { name: 'outPort' })
  assert.equal((await once(port, 'message'))[0], 'through a returned port')
})

test('transferableSymbol and valueSymbol define the transferred buffers and the value that arrives', async open => {
  const pool = open({ filename: handler('echo.js'), maxWorkers: 1 })
  const buffer = new ArrayBuffer(size)
  const parcel = { [transferableSymbol]: [buffer], [valueSymbol]: { buffer, note: 'inside' } }
  const back = await pool.run(move(parcel))
  assert.equal(back.note, 'inside')
  assert.equal(back.buffer.byteLength, size)
  assert.equal(buffer.byteLength, 0)
})

test('primitive values wrapped in move() arrive unchanged', async open => {
  const pool = open({ filename: handler('echo.js'), maxWorkers: 1 })
  for (const value of [undefined, null, 0, 'x', false, 1n]) assert.equal(await pool.run(move(value)), value)
})

test('buffers that are transferred before a worker is ready arrive whole', async open => {
  const pool = open({ filename: handler('moving.js'), name: 'sizeOf', minWorkers: 2, maxWorkers: 2 })
  const sizes = [1, 2, 3, 4, 5, 6, 7, 8]
  const answers = sizes.map(bytes => pool.run(move(new ArrayBuffer(bytes))))
  assert.deepEqual(await Promise.all(answers), sizes)
})

test('a rejected run() call leaves the buffers of its transferList intact', async open => {
  const track = new Track(1)
  const pool = open({ filename: handler('tracked.js'), maxWorkers: 1, maxQueue: 0 })
  const busy = pool.run(track.task(0))
  await track.startAt(0)
  const buffer = new ArrayBuffer(size)
  const transferList = [buffer]
  await assert.rejects(pool.run(buffer, { transferList }), QueueFullError)
  await assert.rejects(pool.run(move(buffer)), QueueFullError)
  await assert.rejects(pool.run(buffer, { transferList, signal: AbortSignal.abort() }), {
    name: 'AbortError',
  })
  await assert.rejects(pool.run(buffer, { transferList, filename: 'no-file' }))
  assert.equal(buffer.byteLength, size)
  track.releaseAll()
  await busy
  await assert.rejects(pool.run({ buffer, call() {} }, { transferList }), NotCloneableError)
  assert.equal(buffer.byteLength, size)
  await pool.close()
  await assert.rejects(pool.run(buffer, { transferList }), PoolClosedError)
  assert.equal(buffer.byteLength, size)
})

test('a queued task takes its buffer at the call, also when it is cancelled later', async open => {
  const track = new Track(1)
  const pool = open({ filename: handler('tracked.js'), maxWorkers: 1 })
  const busy = pool.run(track.task(0))
  await track.startAt(0)
  const controller = new AbortController()
  const buffer = new ArrayBuffer(size)
  const waiting = pool.run(move(buffer), { signal: controller.signal })
  controller.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  assert.equal(buffer.byteLength, 0)
  track.releaseAll()
  await busy
})

/** Each place where a value crosses. The function sends the value from the program, or lets the handler make one. */
const places = {
  payload: pool => ({ sent: pixels => pool.run({ pixels, width: 1 }) }),
  'argument of api': pool => ({ sent: pixels => pool.api.default({ pixels, width: 1 }) }),
  'item of map()': pool => ({ sent: async pixels => (await pool.map([{ pixels, width: 1 }]))[0] }),
  'chunk of transform()': pool => ({
    async sent(pixels) {
      const { readable, writable } = pool.transform({ name: 'echoChunks' })
      const writer = writable.getWriter()
      const read = readable.getReader().read()
      read.catch(() => {})
      await writer.write({ pixels, width: 1 })
      await writer.close()
      return (await read).value
    },
  }),
  result: pool => ({ made: order => pool.run(order, { name: 'result' }) }),
  'chunk of stream()': pool => ({
    made: async order => (await pool.stream(order, { name: 'chunks' }).toArray())[0],
  }),
  'argument of context.call()': pool => ({
    async made(order) {
      let arrived
      const functions = { measure: value => (arrived = value) }
      await pool.run(order, { name: 'call', functions })
      return arrived
    },
  }),
  'result of a function of the caller': pool => ({
    sent: async pixels => ({
      bytes: await pool.run({ size: 1 }, { name: 'call', functions: { measure: () => ({ pixels }) } }),
      rest: ['width'],
    }),
  }),
  'value of context.progress()': pool => ({
    async made(order) {
      let arrived
      await pool.run(order, { name: 'progress', onProgress: value => (arrived = value) })
      return arrived
    },
  }),
}

for (const [title, options] of Object.entries(backends)) {
  test(`move() transfers a buffer deep inside a value at each place, and copies small memory (${title})`, async open => {
    const pool = open({ filename: handler('crossing.js'), maxWorkers: 1, ...options })
    for (const [place, make] of Object.entries(places)) {
      const { sent, made } = make(pool)
      if (made !== undefined) {
        assert.equal((await made({ size })).pixels.byteLength, size, place)
        continue
      }
      const buffer = new Uint8Array(size)
      assert.deepEqual(await sent(move(buffer)), { bytes: size, rest: ['width'] }, place)
      assert.equal(buffer.byteLength, 0, place)
      const { buffer: memory } = new WebAssembly.Memory({ initial: 1 })
      assert.equal((await sent(move(Buffer.from('small')))).bytes, 5, place)
      assert.equal((await sent(move(new Uint8Array(memory, 0, size)))).bytes, size, place)
    }
    // A call of a function cannot have so many arguments.
    const large = { pixels: new Uint8Array(size), rows: new Array(300_000).fill(0) }
    assert.equal((await pool.run(move(large))).bytes, size)
    assert.equal(large.pixels.byteLength, 0)
    await pool.run({ size }, { name: 'result' })
    assert.equal(await pool.run(null, { name: 'hasLeft' }), true)
    await assert.rejects(
      pool.broadcast({ inside: move(new Uint8Array(size)) }),
      /each worker needs its own copy/,
    )
  })

  test(`an object with hidden state is refused at each place, with its path and a remedy (${title})`, async open => {
    const pool = open({ filename: handler('crossing.js'), maxWorkers: 1, ...options })
    for (const [place, make] of Object.entries(places)) {
      const { sent, made } = make(pool)
      const attempt = made?.({ size, kind: 'url' }) ?? sent({ list: [new URL('https://example.org')] })
      const error = await rejection(attempt)
      assert.match(error.message, /Send its href/, place)
      if (error.path !== undefined) assert.match(error.path, /pixels\.list\[0\]$/, place)
    }
  })
}
