// What was printed is waited for, on either stream, and once where nobody reads it.
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { flushStdio } from './stdio-flush.js'

let copies = 0

/** A copy of its own, with streams that write when they are told to. */
async function setUp(t: TestContext) {
  const written: (() => void)[] = []
  for (const name of ['stdout', 'stderr'] as const) {
    const own = Object.getOwnPropertyDescriptor(process, name)!
    t.after(() => Object.defineProperty(process, name, own))
    const stream = new Writable({ write: (_piece, _encoding, done) => void written.push(done) })
    Object.defineProperty(process, name, { value: stream, configurable: true })
  }
  const { stdout, stderr } = process
  const module: { flushStdio: typeof flushStdio } = await import(`./stdio-flush.js?${++copies}`)
  // It takes them at the first look.
  assert.equal(module.flushStdio(), undefined)
  t.after(() => {
    for (let done = written.shift(); done !== undefined; done = written.shift()) done()
  })
  return { ...module, stdout, stderr, written }
}

for (const name of ['stdout', 'stderr'] as const) {
  test(`what is not yet written to ${name} is waited for, though a handler has put its own write in place`, async t => {
    const { flushStdio, [name]: stream, written } = await setUp(t)
    stream.write('line')
    stream.write = () => assert.fail('it is the handler’s')
    let isWritten = false
    const flushed = flushStdio()!.then(() => assert.equal(isWritten, true))
    setImmediate(() => {
      isWritten = true
      written.shift()!()
      setImmediate(() => written.shift()!())
    })
    await flushed
    assert.equal(flushStdio(), undefined)
  })
}

test('what was waited for in vain is waited for no more, until it is written', async t => {
  const { flushStdio, stdout, written } = await setUp(t)
  // The limit of time keeps no process alive.
  const alive = setInterval(() => {}, 1000)
  t.after(() => clearInterval(alive))
  const writeAll = async () => {
    while (stdout.writableLength > 0 || written.length > 0) {
      written.shift()?.()
      await new Promise(setImmediate)
    }
  }
  stdout.write('line')
  await flushStdio(1)
  assert.equal(flushStdio(), undefined)
  await writeAll()
  stdout.write('line')
  const flushed = flushStdio(5)
  assert.ok(flushed instanceof Promise)
  await writeAll()
  await flushed
  // What is written is not stuck when its time is over.
  await new Promise(resolve => setTimeout(resolve, 20))
  stdout.write('line')
  assert.ok(flushStdio(5) instanceof Promise)
})
