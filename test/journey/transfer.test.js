// A transferred buffer is detached here and whole in the worker. A rejected submission detaches nothing.
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
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { Track } from '../helpers/track.js'

const size = 1024

test('a moved payload arrives whole and is detached here', async open => {
  const pool = open({ filename: handler('moving.js'), name: 'sizeOf', maxWorkers: 1 })
  const buffer = new ArrayBuffer(size)
  assert.equal(await pool.run(move(buffer)), size)
  assert.equal(buffer.byteLength, 0)
  const view = new Uint8Array(size)
  assert.equal(await pool.run(move(view)), size)
  assert.equal(view.byteLength, 0)
})

test('a buffer of transferList arrives whole and is detached here', async open => {
  const pool = open({ filename: handler('moving.js'), name: 'sizeOf', maxWorkers: 1 })
  const buffer = new ArrayBuffer(size)
  assert.equal(await pool.run(buffer, { transferList: [buffer] }), size)
  assert.equal(buffer.byteLength, 0)
})

test('a moved result arrives whole and is detached in the worker', async open => {
  const pool = open({ filename: handler('moving.js'), maxWorkers: 1 })
  const bytes = await pool.run(size)
  assert.equal(bytes.length, size)
  assert.ok(bytes.every(byte => byte === 7))
  assert.equal(await pool.run(undefined, { name: 'left' }), 0)
})

test('a message port can be moved to a worker and back', async open => {
  const pool = open({ filename: handler('moving.js'), maxWorkers: 1 })
  const { port1, port2 } = new MessageChannel()
  const said = once(port1, 'message')
  await pool.run({ port: port2 }, { name: 'inPort', transferList: [port2] })
  assert.equal((await said)[0], 'from the worker')
  const port = await pool.run(undefined, { name: 'outPort' })
  assert.equal((await once(port, 'message'))[0], 'through a returned port')
})

test('an object with transferableSymbol names what is transferred and what arrives', async open => {
  const pool = open({ filename: handler('echo.js'), maxWorkers: 1 })
  const buffer = new ArrayBuffer(size)
  const parcel = { [transferableSymbol]: [buffer], [valueSymbol]: { buffer, note: 'inside' } }
  const back = await pool.run(move(parcel))
  assert.equal(back.note, 'inside')
  assert.equal(back.buffer.byteLength, size)
  assert.equal(buffer.byteLength, 0)
})

test('move() returns primitives unchanged', async open => {
  const pool = open({ filename: handler('echo.js'), maxWorkers: 1 })
  for (const value of [undefined, null, 0, 'x', false, 1n]) assert.equal(await pool.run(move(value)), value)
})

test('buffers moved before any worker is ready arrive whole', async open => {
  const pool = open({ filename: handler('moving.js'), name: 'sizeOf', minWorkers: 2, maxWorkers: 2 })
  const sizes = [1, 2, 3, 4, 5, 6, 7, 8]
  const answers = sizes.map(bytes => pool.run(move(new ArrayBuffer(bytes))))
  assert.deepEqual(await Promise.all(answers), sizes)
})

test('a rejected submission leaves its buffer intact', async open => {
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

test('a cancelled queued task leaves its buffer intact', async open => {
  const track = new Track(1)
  const pool = open({ filename: handler('tracked.js'), maxWorkers: 1 })
  const busy = pool.run(track.task(0))
  await track.startAt(0)
  const controller = new AbortController()
  const buffer = new ArrayBuffer(size)
  const waiting = pool.run(move(buffer), { signal: controller.signal })
  controller.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  assert.equal(buffer.byteLength, size)
  track.releaseAll()
  await busy
})
