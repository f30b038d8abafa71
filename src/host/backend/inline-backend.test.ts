// Who of the workers on this thread runs, and who waits for a seat.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { allocateClaims, offer } from '../../shared/channel/claims.js'
import type { WorkerLink } from './backend.js'
import { InlineBackend } from './inline-backend.js'

/** Workers whose tasks run until the test lets them end, and what they say. */
function setUp(
  t: TestContext,
  seats: number,
  handler = 'export default () => new Promise(resolve => globalThis.inlineTest.push(resolve))',
) {
  const folder = mkdtempSync(join(tmpdir(), 'lido-inline-'))
  const filename = join(folder, 'handler.mjs')
  writeFileSync(filename, handler)
  const running: (() => void)[] = []
  Object.assign(globalThis, { inlineTest: running })
  const backend = new InlineBackend(seats)
  const links: WorkerLink[] = []
  t.after(() => {
    for (const link of links) link.terminate()
    rmSync(folder, { recursive: true, force: true })
  })
  const preload = { filename, name: 'default' }
  const start = () => {
    const said: string[] = []
    const claims = allocateClaims(1)
    const link = backend.start(
      {
        road: { kind: 'port', claims, clockOrigin: 0, context: true },
        preload,
        niceIncrement: 0,
        limits: null,
        measures: false,
        above: null,
        workerOptions: {},
      },
      {
        onMessage: message => said.push(message === 'bell' ? message : message.kind),
        onUnreadable() {},
        onUserMessage() {},
        onExit: exitCode => said.push(`exit ${exitCode}`),
      },
    )
    links.push(link)
    const says = async (word: string) => {
      while (!said.includes(word)) await turn()
    }
    const run = async () => {
      await says('ready')
      offer(claims, 0, 1)
      link.post({ kind: 'run', taskId: 1, slot: 0, handlerId: 1, handler: preload, payload: null })
      const before = running.length
      while (running.length === before) await turn()
    }
    return { link, said, says, run }
  }
  /** All that may begin has begun. */
  const calm = async () => {
    for (let turns = 0; turns < 20; turns++) await turn()
  }
  return { start, running, calm }
}

test('a worker that is given up keeps its seat until its handler has ended, and who comes next waits', async t => {
  const { start, running, calm } = setUp(t, 1)
  for (let round = 0; round < 3; round++) {
    const old = start()
    await old.run()
    old.link.terminate()
    const next = start()
    await old.says('exit 1')
    const gone = start()
    gone.link.terminate()
    await calm()
    assert.deepEqual([next.said, gone.said], [[], ['exit 1']])
    running.pop()!()
    await next.says('ready')
    next.link.terminate()
    await calm()
    assert.deepEqual([old.said, gone.said], [['ready', 'exit 1'], ['exit 1']])
  }
})

test('one that is given up before it has begun leaves its seat', async t => {
  const { start } = setUp(t, 1)
  for (let round = 0; round < 3; round++) {
    const old = start()
    old.link.terminate()
    old.link.terminate()
    const next = start()
    await next.says('ready')
    assert.deepEqual(old.said, ['exit 1'])
    next.link.terminate()
  }
})

test('beside one that is given up others run, as many as there are seats', async t => {
  const { start, running, calm } = setUp(t, 2)
  const [old, other] = [start(), start()]
  await old.run()
  old.link.terminate()
  await other.says('ready')
  const third = start()
  await calm()
  assert.deepEqual(third.said, [])
  other.link.terminate()
  await third.says('ready')
  running.pop()!()
})

test('where none runs on, one more than there are seats begins: it is to replace another', async t => {
  const { start } = setUp(t, 1)
  const gone = start()
  await gone.says('ready')
  gone.link.terminate()
  await gone.says('exit 1')
  for (const worker of [start(), start()]) await worker.says('ready')
})

test('one that ends by itself leaves one seat', async t => {
  const { start, running, calm } = setUp(t, 1)
  const ended = start()
  await ended.says('ready')
  ended.link.post({ kind: 'end' })
  await ended.says('exit 0')
  const old = start()
  await old.run()
  old.link.terminate()
  const next = start()
  await calm()
  assert.deepEqual(next.said, [])
  running.pop()!()
  await next.says('ready')
})

test('an answer given before the end counts', async t => {
  const { start, running } = setUp(t, 1)
  const worker = start()
  await worker.run()
  running.pop()!()
  for (let ticks = 0; ticks < 20; ticks++) await null
  worker.link.terminate()
  await worker.says('exit 1')
  assert.deepEqual(worker.said, ['ready', 'done', 'exit 1'])
  assert.equal(worker.link.threadId, -1)
})

test('nothing of a worker runs in the context of who starts it or ends it', async t => {
  const context = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  Object.assign(globalThis, { inlineSee: () => seen.push(context.getStore()) })
  const { start, running } = setUp(
    t,
    1,
    `globalThis.inlineSee()
     export default (_, { signal }) => new Promise(resolve => {
       signal.addEventListener('abort', globalThis.inlineSee)
       globalThis.inlineTest.push(resolve)
     })`,
  )
  const worker = context.run('who starts it', start)
  await worker.run()
  context.run('who ends it', () => worker.link.terminate())
  await worker.says('exit 1')
  running.pop()!()
  assert.deepEqual(seen, [undefined, undefined])
})
