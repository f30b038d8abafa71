// `share()`: values that many payloads contain and that each worker decodes once.
import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { InvalidOptionError, NotCloneableError, share } from 'lido'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('sharing.js')

for (const [title, options] of Object.entries(backends)) {
  test(`a handler receives the value, and each worker decodes it once, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const table = pool.share({ a: 1, b: { c: 2n } })
    assert.equal(await pool.run({ table, key: 'a' }, { name: 'lookUp' }), 1)
    assert.deepEqual(await pool.run({ table, key: 'b' }, { name: 'lookUp' }), { c: 2n })
    const known = []
    for (let n = 0; n < 3; n++) known.push(await pool.run({ table }, { name: 'isKnown' }))
    assert.deepEqual(known, [false, true, true])
    // The codec declines shared memory, so this payload goes by message.
    if (options.backend !== 'process') {
      const payload = { table, key: 'a', extra: new Int32Array(new SharedArrayBuffer(4)) }
      assert.equal(await pool.run(payload, { name: 'lookUp' }), 1)
    }
  })

  test(`the handle may be anywhere in a payload, in arguments and in items, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const table = pool.share({ name: 'rows' })
    const payload = {
      list: [1, table],
      map: new Map([['table', table]]),
      set: new Set([table]),
      deep: { er: { table } },
      again: table,
    }
    assert.deepEqual(await pool.run(payload, { name: 'findEverywhere' }), [true, 'rows'])
    const map = pool.share(new Map([[7, 'seven']]))
    assert.equal(await pool.api.lookUpTwo(map, 7), 'seven')
    const items = ['name', 'other'].map(key => ({ table, key }))
    assert.deepEqual(await pool.map(items, { name: 'lookUp' }).toArray(), ['rows', undefined])
  })

  test(`typed arrays of a shared value are views on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const table = pool.share({
      bytes: Buffer.from([1, 2, 3]),
      floats: new Float64Array([0.5, 1.5]).subarray(1),
      view: new DataView(new Uint8Array([9, 1, 2]).buffer, 1),
    })
    const memory = options.backend === 'process' ? 'ArrayBuffer' : 'SharedArrayBuffer'
    const due = ['Uint8Array', [1, 2, 3], [1.5], 258, memory]
    assert.deepEqual(await pool.run(table, { name: 'describeBytes' }), due)
  })

  test(`workers that start later have the value on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const table = pool.share({ a: 1 })
    assert.equal(await pool.run({ table, key: 'a' }, { name: 'lookUp' }), 1)
    await pool.recycle()
    assert.equal(await pool.run({ table, key: 'a' }, { name: 'lookUp' }), 1)
    if (options.backend === 'inline') return
    await pool.workers[0].terminate()
    assert.equal(await pool.run({ table, key: 'a' }, { name: 'lookUp' }), 1)
  })

  test(`a released value is refused, and earlier calls still get it, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const table = pool.share({ a: 1 })
    const earlier = pool.run({ table, key: 'a' }, { name: 'later' })
    await pool.run({ table, key: 'a' }, { name: 'lookUp' })
    const running = pool.run({ table, key: 'a' }, { name: 'later' })
    table.release()
    table.release()
    assert.deepEqual(await Promise.all([earlier, running]), [1, 1])
    for (const payload of [{ table, key: 'a' }, [table]]) {
      const error = await rejection(pool.run(payload, { name: 'lookUp' }))
      assert.ok(error instanceof NotCloneableError)
      assert.match(error.message, /^payload\S* cannot be sent .*shared value was released.*share it again\.$/)
      assert.doesNotMatch(error.path, /lido:/)
    }
    const other = pool.share({ a: 2 })
    assert.equal(await pool.run({ table: other, key: 'a' }, { name: 'lookUp' }), 2)
  })

  test(`queued calls get a value that is released before they start on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const table = pool.share({ a: 1 })
    const payloads = Array.from({ length: 2000 }, () => ({ table, key: 'a' }))
    const results = Promise.all(payloads.map(payload => pool.run(payload, { name: 'lookUp' })))
    table.release()
    const late = rejection(pool.run({ table, key: 'a' }, { name: 'lookUp' }))
    assert.deepEqual(new Set(await results), new Set([1]))
    assert.match((await late).message, /shared value was released/)
  })

  test(`several pools use the same value on ${title}`, async open => {
    const table = share({ a: 1 })
    for (let n = 0; n < 2; n++) {
      const pool = open({ filename, maxWorkers: 1, ...options })
      assert.equal(await pool.run({ table, key: 'a' }, { name: 'lookUp' }), 1)
    }
    table.release()
  })

  test(`a broadcast with alsoNew keeps a released value for later workers on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, minWorkers: 1, ...options })
    const [first, second] = ['first', 'second'].map(name => pool.share({ name }))
    const keep = table => pool.broadcast({ table, key: 'name' }, { name: 'keep', alsoNew: true })
    await keep(first)
    first.release()
    await pool.recycle()
    assert.equal(await pool.run(0, { name: 'kept' }), 'first')
    await keep(second)
    second.release()
    await pool.recycle()
    assert.equal(await pool.run(0, { name: 'kept' }), 'second')
  })

  test(`a broadcast may contain a shared value, also for later workers, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, minWorkers: 1, ...options })
    const table = pool.share({ name: 'rows' })
    const payload = { table, key: 'name' }
    assert.deepEqual(await pool.broadcast(payload, { name: 'keep', alsoNew: true }), ['rows'])
    await pool.recycle()
    assert.equal(await pool.run(0, { name: 'kept' }), 'rows')
  })

  if (options.backend === 'inline') continue
  test(`workerData may contain a shared value on ${title}`, async open => {
    const table = share({ a: 1 })
    const pool = open({ filename, maxWorkers: 1, workerData: { tables: [table] }, ...options })
    assert.equal(await pool.run('a', { name: 'fromWorkerData' }), 1)
    await pool.recycle()
    assert.equal(await pool.run('a', { name: 'fromWorkerData' }), 1)
  })

  test(`workerData keeps a released value for later workers on ${title}`, async open => {
    const table = share({ a: 1 })
    const pool = open({ filename, maxWorkers: 1, workerData: { tables: [table] }, ...options })
    assert.equal(await pool.run('a', { name: 'fromWorkerData' }), 1)
    table.release()
    await pool.workers[0].terminate()
    assert.equal(await pool.run('a', { name: 'fromWorkerData' }), 1)
    assert.throws(
      () => open({ filename, workerData: { table }, ...options }),
      error => error instanceof InvalidOptionError && /workerData.* was released/.test(error.message),
    )
  })

  test(`a retry after the death of a worker gets a released value on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, retry: { attempts: 2 }, ...options })
    const table = pool.share({ a: 1 })
    const folder = mkdtempSync(join(tmpdir(), 'lido-share-'))
    const result = pool.run({ table, key: 'a', file: join(folder, 'was-here') }, { name: 'dieAtFirst' })
    table.release()
    assert.equal(await result, 1)
    rmSync(folder, { recursive: true })
  })
}

test('share() refuses values that cannot be copied and names the part', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  for (const part of [
    () => {},
    Symbol('x'),
    new WeakMap(),
    new URL('https://example.org'),
    new SharedArrayBuffer(8),
  ]) {
    assert.throws(
      () => pool.share({ a: { part } }),
      error =>
        error instanceof NotCloneableError &&
        error.path === 'value.a.part' &&
        !error.message.includes("without 'new'"),
    )
  }
})

test('a handle in a chunk or in the answer of a called function is refused', async open => {
  const pool = open({ filename, maxWorkers: 1 })
  const table = pool.share({ a: 1 })
  const functions = { getTable: () => ({ table }) }
  assert.match(await pool.run(0, { name: 'callForTable', functions }), /only in a payload/)
  const { readable, writable } = pool.transform({ name: 'passOn' })
  const reading = rejection(readable.getReader().read())
  const writer = writable.getWriter()
  writer.closed.catch(() => {})
  assert.match((await rejection(writer.write({ table }))).message, /only in a payload/)
  await reading
})

for (const [title, options] of Object.entries(backends)) {
  test(`a getter of a payload may use another pool before and after a shared value, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, ...options })
    const other = open({ filename: handler('echo.js'), maxWorkers: 1, ...options })
    await Promise.all([pool.ready(), other.ready()])
    const [table, otherTable] = [pool.share({ a: 1 }), other.share({ b: 2 })]
    const inner = []
    const payload = {
      get before() {
        inner.push(other.run({ otherTable }), other.broadcast({ otherTable }))
        return 1
      },
      key: 'a',
      table,
      get after() {
        inner.push(pool.run({ table, key: 'a' }, { name: 'lookUp' }))
        return 2
      },
      again: table,
    }
    assert.equal(await pool.run(payload, { name: 'lookUp' }), 1)
    // The same for a payload that cannot be in shared memory.
    const declined = Object.defineProperties(
      { point: new (class Point {})() },
      Object.getOwnPropertyDescriptors(payload),
    )
    assert.equal(await pool.run(declined, { name: 'lookUp' }), 1)
    for (const answer of await Promise.all(inner)) assert.ok(answer)
  })

  test(`share() and workerData take what structured clone takes, unless it cannot leave its process, on ${title}`, async open => {
    const filename = handler('echo.js')
    const module = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))
    const key = await crypto.subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, ['encrypt'])
    const objects = { module, key, secret: createSecretKey(Buffer.from('x')), blob: new Blob(['x']) }
    const pool = open({ filename, maxWorkers: 1, ...options })
    for (const [name, object] of Object.entries(objects)) {
      const value = { deep: [object, object], bytes: new Uint8Array(3) }
      const answer = pool.run({ value: pool.share(value), direct: object })
      if (options.backend === 'process') {
        for (const attempt of [answer, pool.run({ value: pool.share(value) }), pool.broadcast(value)]) {
          assert.match((await rejection(attempt)).message, /cannot leave its process/, name)
        }
        assert.throws(
          () => open({ filename, workerData: value, ...options }),
          /cannot leave its process/,
          name,
        )
        continue
      }
      const { value: arrived, direct } = await answer
      assert.equal(arrived.deep[0].constructor.name, object.constructor.name, name)
      assert.equal(direct.constructor, arrived.deep[0].constructor, name)
      assert.equal(arrived.deep[1], arrived.deep[0], name)
      assert.equal(await open({ filename, maxWorkers: 1, workerData: value, ...options }).run(name), name)
    }
    assert.throws(
      () => open({ filename, workerData: new URL('https://example.org'), ...options }),
      /Send its href/,
    )
  })
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const ends = { 'released value': table => table.release(), 'value without a handle': () => {} }
for (const [title, end] of Object.entries(ends)) {
  test(`workers forget a ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1 })
    const remember = async () => {
      const table = pool.share({ a: 1 })
      await pool.run({ table }, { name: 'remember' })
      end(table)
    }
    await remember()
    while (!(await pool.run(0, { name: 'hasForgotten' }))) {
      collectGarbage()
      await new Promise(setImmediate)
    }
  })
}
