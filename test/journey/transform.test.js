// `pool.transform()`: both directions, ends and failures on either side.
import assert from 'node:assert/strict'
import { Duplex, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  InvalidTaskError,
  NotCloneableError,
  PoolClosedError,
  TaskCancelledError,
  WorkerExitError,
} from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('streaming.js')

async function collect(readable) {
  const chunks = []
  for await (const chunk of readable) chunks.push(chunk)
  return chunks
}

const naturals = () => {
  let n = 0
  return new ReadableStream({ pull: controller => controller.enqueue(n++) }, { highWaterMark: 0 })
}

for (const [title, options] of Object.entries(backends)) {
  test(`a transform works with pipeThrough() and with pipeline() on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const texts = ['a', 'b', 'c']
    const web = Readable.toWeb(Readable.from(texts)).pipeThrough(pool.transform({ name: 'upperCase' }))
    assert.deepEqual(await collect(web), ['A', 'B', 'C'])
    const seen = []
    const sink = new Writable({
      objectMode: true,
      write(chunk, _, done) {
        seen.push(chunk)
        done()
      },
    })
    const middle = Duplex.fromWeb(pool.transform({ name: 'upperCase' }), { objectMode: true })
    await pipeline(Readable.from(texts), middle, sink)
    assert.deepEqual(seen, ['A', 'B', 'C'])
  })

  test(`an empty input and a result after the end of the input work on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const sum = async numbers =>
      await collect(Readable.toWeb(Readable.from(numbers)).pipeThrough(pool.transform({ name: 'sumAtEnd' })))
    assert.deepEqual(await sum([]), [0])
    assert.deepEqual(await sum(Array.from({ length: 1000 }, (_, n) => n)), [499_500])
  })

  test(`a handler that stops reading cancels the source on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    assert.deepEqual(await collect(naturals().pipeThrough(pool.transform({ name: 'firstOnly' }))), [0])
    assert.equal(await pool.run(0, { name: 'plain' }), 1)
  })

  test(`an error and a worker's death end both streams on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const failing = pool.transform({ name: 'failAt3' })
    const piped = rejection(naturals().pipeTo(failing.writable))
    assert.ok((await rejection(collect(failing.readable))) instanceof RangeError)
    assert.ok((await piped) instanceof RangeError)
    if (options.backend === 'inline') return
    const dying = pool.transform({ name: 'exitAt3' })
    const pipedToo = rejection(naturals().pipeTo(dying.writable))
    assert.ok((await rejection(collect(dying.readable))) instanceof WorkerExitError)
    assert.ok((await pipedToo) instanceof WorkerExitError)
    assert.equal(await pool.run(0, { name: 'plain' }), 1)
  })

  test(`a reader that stops, a writer that aborts and destroy() end the task on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    for await (const n of naturals().pipeThrough(pool.transform({ name: 'pass' }))) if (n === 3) break
    const aborted = pool.transform({ name: 'pass' })
    const writer = aborted.writable.getWriter()
    await writer.write(1)
    await writer.abort(new Error('the input broke'))
    assert.ok((await rejection(collect(aborted.readable))) instanceof TaskCancelledError)
    const cut = pool.transform({ name: 'pass' })
    const piped = naturals().pipeTo(cut.writable)
    const reader = cut.readable.getReader()
    await reader.read()
    const [error, pipeError] = await Promise.all([
      rejection(
        (async () => {
          for (;;) await reader.read()
        })(),
      ),
      rejection(piped),
      pool.destroy(),
    ])
    assert.ok(error instanceof PoolClosedError)
    assert.ok(pipeError instanceof PoolClosedError)
  })

  test(`a chunk that cannot be copied ends the transform on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const { readable, writable } = pool.transform({ name: 'pass' })
    const writer = writable.getWriter()
    const read = rejection(collect(readable))
    await writer.write(1)
    const error = await rejection(writer.write(() => {}))
    assert.ok(error instanceof NotCloneableError)
    assert.ok((await read) instanceof TaskCancelledError)
  })
}

test('transfer moves the buffers of chunks in both directions', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  for (const transfer of [false, true]) {
    const { readable, writable } = pool.transform({ name: 'pass', transfer })
    const writer = writable.getWriter()
    const whole = new Uint8Array([1, 2, 3])
    const part = new Uint8Array([1, 2, 3, 4]).subarray(1, 3)
    const received = collect(readable)
    await writer.write(whole)
    await writer.write(part)
    await writer.close()
    const [first, second] = await received
    assert.deepEqual([...first], [1, 2, 3])
    assert.deepEqual([...second], [2, 3])
    assert.equal(whole.byteLength, transfer ? 0 : 3)
    assert.equal(part.byteLength, 2)
  }
})

test('both directions of a transform pause', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const { readable, writable } = pool.transform({ name: 'pass', highWaterMark: 2 })
  const writer = writable.getWriter()
  let accepted = 0
  for (let n = 0; n < 100; n++) void writer.write(n).then(() => accepted++)
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
  // Two chunks in each direction, and one in the hands of each side.
  assert.ok(accepted <= 8, `${accepted} chunks were accepted`)
  const all = collect(readable)
  await writer.close()
  assert.equal((await all).length, 100)
})

test('transform() refuses wrong options and a closed pool', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  for (const options of [{ transfer: 1 }, { highWaterMark: 0 }, { transferList: [] }, 7]) {
    assert.throws(() => pool.transform(options), InvalidTaskError)
  }
  await pool.close()
  const { readable, writable } = pool.transform({ name: 'pass' })
  assert.ok((await rejection(collect(readable))) instanceof PoolClosedError)
  assert.ok((await rejection(writable.getWriter().write(1))) instanceof PoolClosedError)
})
