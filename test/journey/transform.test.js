// `pool.transform()`: both directions, ends and failures on either side.
import assert from 'node:assert/strict'
import { Duplex, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InvalidTaskError, NotCloneableError, PoolClosedError, WorkerExitError } from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
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
    const broken = new Error('the input broke')
    await writer.abort(broken)
    assert.equal(await rejection(collect(aborted.readable)), broken)
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
    assert.equal(await read, error)
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

// A transform of the pool ends as a `TransformStream` does.

const natives = {
  pass: () => new TransformStream(),
  failAt3: () =>
    new TransformStream({
      transform(n, controller) {
        if (n === 3) throw new RangeError('3 is too much')
        controller.enqueue(n)
      },
    }),
  failAtEnd: () =>
    new TransformStream({
      async flush() {
        await new Promise(setImmediate)
        throw new RangeError('at the end')
      },
    }),
}

const textOf = error => (error instanceof Error ? `${error.name}: ${error.message} ${error.code}` : error)
const outcome = promise =>
  promise.then(
    value => ['resolved', value],
    error => ['rejected', textOf(error)],
  )
const failure = () => Object.assign(new Error('the reason'), { code: 'E_REASON' })

/** Gives 0, 1 and 2, then fails. */
const failing = () => {
  let n = 0
  return new ReadableStream({
    pull(controller) {
      if (n < 3) controller.enqueue(n++)
      else controller.error(failure())
    },
  })
}

const listOf = numbers => Readable.toWeb(Readable.from(numbers))

/** For each way to end: what both sides see. `make` creates a transform by the name of its handler. */
const endings = {
  async 'the end of the input'(make) {
    const { readable, writable } = make('pass')
    const writer = writable.getWriter()
    const read = outcome(collect(readable))
    const writes = [writer.write(1), writer.write({ two: 2 })].map(outcome)
    return [
      await outcome(writer.close()),
      await outcome(writer.closed),
      await read,
      ...(await Promise.all(writes)),
    ]
  },
  'an error of the source': make => outcome(collect(failing().pipeThrough(make('pass')))),
  'an error of an earlier transform': make =>
    outcome(collect(naturals().pipeThrough(make('failAt3')).pipeThrough(make('pass')))),
  async 'an error of the handler'(make) {
    const { readable, writable } = make('failAt3')
    const piped = outcome(naturals().pipeTo(writable))
    return [await outcome(collect(readable)), await piped]
  },
  async 'an error at the end'(make) {
    const { readable, writable } = make('failAtEnd')
    const writer = writable.getWriter()
    const closed = outcome(writer.closed)
    const read = outcome(collect(readable))
    await writer.write(1)
    return [await outcome(writer.close()), await closed, await read]
  },
  async 'abort() of the writer'(make) {
    const { readable, writable } = make('pass')
    const writer = writable.getWriter()
    const closed = outcome(writer.closed)
    const read = outcome(collect(readable))
    await writer.write(1)
    return [await outcome(writer.abort(failure())), await closed, await read]
  },
  async 'the signal of pipeThrough()'(make) {
    const controller = new AbortController()
    const read = collect(naturals().pipeThrough(make('pass'), { signal: controller.signal }))
    controller.abort(failure())
    return await outcome(read)
  },
  async 'the signal of pipeTo()'(make) {
    const controller = new AbortController()
    const { readable, writable } = make('pass')
    const source = naturals().pipeTo(writable)
    let seen = 0
    const sink = new WritableStream({
      write() {
        if (++seen === 3) controller.abort(failure())
      },
    })
    const drained = outcome(readable.pipeTo(sink, { signal: controller.signal }))
    return [await drained, await outcome(source)]
  },
  async 'cancel() of the reader'(make) {
    const { readable, writable } = make('pass')
    const writer = writable.getWriter()
    const reader = readable.getReader()
    void writer.write(1)
    await reader.read()
    const closed = outcome(writer.closed)
    return [await outcome(reader.cancel(failure())), await closed, await outcome(writer.write(2))]
  },
  async 'break in a loop'(make) {
    const { readable, writable } = make('pass')
    const piped = outcome(naturals().pipeTo(writable))
    for await (const n of readable) if (n === 2) break
    return await piped
  },
  async 'tee()'(make) {
    const [first, second] = listOf([1, 2, 3]).pipeThrough(make('pass')).tee()
    return await Promise.all([outcome(collect(first)), outcome(collect(second))])
  },
}

for (const [title, options] of Object.entries(backends)) {
  test(`a transform ends as a TransformStream does on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 2, ...options })
    for (const [ending, play] of Object.entries(endings)) {
      const expected = await play(name => natives[name]())
      assert.deepEqual(await play(name => pool.transform({ name })), expected, ending)
    }
    assert.equal(await pool.run(0, { name: 'plain' }), 1)
  })

  test(`a transform without a reader starts with the first write, and ends by an abort, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const failed = pool.transform({ name: 'failAtStart' }).writable.getWriter()
    const closed = rejection(failed.closed)
    // Whether the handler makes room for the chunk before its error arrives is left to the operating system.
    const refusal = await failed.write(1).catch(error => error)
    assert.equal((await closed).message, 'at the start')
    assert.ok(refusal === undefined || refusal.message === 'at the start')
    assert.equal(await pool.run(0, { name: 'plain' }), 1)
    const { writable } = pool.transform({ name: 'pass', highWaterMark: 1 })
    const writer = writable.getWriter()
    const writes = [1, 2, 3, 4, 5].map(n => rejection(writer.write(n)).catch(() => null))
    const reason = new Error('no more')
    await writer.abort(reason)
    assert.equal((await Promise.all(writes)).at(-1), reason)
    assert.equal(await pool.run(0, { name: 'plain' }), 1)
  })
}

test('a stream that was started and forgotten gives its slot back, with one warning', async () => {
  const { output } = await runProgram(`
    import { setFlagsFromString } from 'node:v8'
    import { runInNewContext } from 'node:vm'
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc')
    process.on('warning', ({ code }) => console.log(code))
    const pool = new Pool({ filename: handler('streaming.js'), maxWorkers: 1 })
    const start = {
      async stream() {
        const stream = pool.stream({ to: 1e9 }, { name: 'slowly' })
        await stream.next()
      },
      async api() {
        const stream = await pool.api.slowly({ to: 1e9 })
        await stream.next()
      },
      async readable() {
        const { readable, writable } = pool.transform({ name: 'pass' })
        globalThis.kept = writable.getWriter()
        kept.closed.catch(() => {})
        kept.write(1)
        await readable.getReader().read()
      },
      async writable() {
        const { readable, writable } = pool.transform({ name: 'pass' })
        const writer = writable.getWriter()
        writer.write(1)
        globalThis.kept = readable.getReader()
        await kept.read()
      },
    }
    for (const [name, begin] of Object.entries(start)) {
      await begin()
      let isFree = false
      const next = pool.run(0, { name: 'plain' }).then(() => (isFree = true))
      while (!isFree) {
        collectGarbage()
        await new Promise(setImmediate)
      }
      console.log(name)
    }
    // A reader that waits keeps its stream.
    const waiting = pool.stream({ to: 3 }, { name: 'slowly' }).toArray()
    for (let turn = 0; turn < 5; turn++) {
      collectGarbage()
      await new Promise(setImmediate)
    }
    console.log((await waiting).length)
    await pool.close()
  `)
  assert.deepEqual(output.split('\n').filter(Boolean).sort(), [
    '3',
    'LIDO_FORGOTTEN_STREAM',
    'api',
    'readable',
    'stream',
    'writable',
  ])
})
