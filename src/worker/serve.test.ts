// What a worker tells its host of its own life, and when it ends.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { HostPort, RoadOrder, ToHost, ToWorker } from '../shared/messages/messages.js'
import type { Executor } from './executor.js'
import type { Intake } from './intake.js'
import { serve } from './serve.js'

/** A worker whose file goes on when the test lets it, and a log of what it says and does. */
function start(t: TestContext, limits: { tasks: number; bytes: number } | null = null) {
  const folder = mkdtempSync(join(tmpdir(), 'lido-serve-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const filename = join(folder, 'handler.mjs')
  writeFileSync(
    filename,
    `const { onLoading, log } = globalThis.serveTest
await new Promise((resolve, reject) => onLoading(resolve, reject))
export default payload => payload
export const teardown = () => log.push('teardown')`,
  )
  const log: string[] = []
  const isLoading = new Promise<{ resolve(): void; reject(why: unknown): void }>(known => {
    const onLoading = (resolve: () => void, reject: () => void) => known({ resolve, reject })
    Object.assign(globalThis, { serveTest: { onLoading, log } })
  })
  let say!: (message: ToWorker) => void
  let onUnreadable!: () => void
  let end!: () => void
  let executor!: Executor
  const port = {
    postMessage: (message: Exclude<ToHost, 'bell'>) => log.push(message.kind),
    on(event: string, listener: (message?: ToWorker) => void) {
      if (event === 'message') say = listener
      else onUnreadable = listener
    },
  } as HostPort
  const note = (what: string) => () => void log.push(`intake: ${what}`)
  const intake: Intake = {
    open: note('open'),
    onMessage: message => log.push(`intake: told ${message === 'bell' ? message : message.kind}`),
    onUnreadable: note('unreadable'),
    leave: note('leave'),
    stopTaking: note('stop taking'),
  }
  void serve(
    {
      road: { context: false } as RoadOrder,
      niceIncrement: 0,
      preload: { filename, name: 'default' },
      limits,
      above: null,
      measures: false,
    },
    {
      isThreadsOwn: true,
      port,
      makeIntake(made) {
        executor = made
        return intake
      },
      async flush(longestMs) {
        log.push(`flush ${longestMs}`)
      },
      onEnd(callback) {
        end = callback
      },
      onCrash() {},
      end: (exitCode?: number) => log.push(`end ${exitCode}`),
    },
  )
  return {
    isLoading,
    executor,
    say,
    onUnreadable,
    end,
    /** What was logged since it was asked last. */
    async news() {
      for (let turns = 0; turns < 3; turns++) await turn()
      return log.splice(0)
    },
  }
}

test('a worker is ready when its file is there, and then begins', async t => {
  const { isLoading, say, onUnreadable, news } = start(t)
  const { resolve } = await isLoading
  say('bell')
  onUnreadable()
  assert.deepEqual(await news(), ['intake: told bell', 'intake: unreadable'])
  resolve()
  assert.deepEqual(await news(), ['hasTeardown', 'ready', 'intake: open'])
  say({ kind: 'end' })
  assert.deepEqual(await news(), ['intake: stop taking', 'teardown', 'flush 500', 'end 0'])
})

test('a worker whose file does not load says so, and ends', async t => {
  const { isLoading, news } = start(t)
  const { reject } = await isLoading
  reject('bad')
  assert.deepEqual(await news(), ['startFailed', 'end undefined'])
})

test('told to end while its file loads it ends when that is there, in the way it was told last, and once', async t => {
  const worker = start(t)
  const { resolve } = await worker.isLoading
  for (const kind of ['end', 'stop', 'end'] as const) worker.say({ kind })
  assert.deepEqual(await worker.news(), ['intake: stop taking', 'intake: stop taking'])
  resolve()
  assert.deepEqual(await worker.news(), ['hasTeardown', 'teardown', 'flush 500', 'end 0'])
  const other = start(t)
  const loading = await other.isLoading
  for (const kind of ['end', 'stop'] as const) other.say({ kind })
  loading.resolve()
  assert.deepEqual(await other.news(), ['intake: stop taking', 'hasTeardown', 'end undefined'])
})

test('a worker that is to leave says so once, when it takes no more, whoever has told it', async t => {
  const bySelf = start(t, { tasks: 1, bytes: Number.POSITIVE_INFINITY })
  await bySelf.isLoading
  bySelf.executor.limits!.onBegin()
  assert.deepEqual(await bySelf.news(), ['intake: leave', 'leaving'])
  bySelf.say({ kind: 'leave' })
  assert.deepEqual(await bySelf.news(), ['intake: told leave'])
  const byHost = start(t)
  await byHost.isLoading
  byHost.say({ kind: 'leave' })
  assert.deepEqual(await byHost.news(), ['intake: leave', 'leaving', 'intake: told leave'])
})

test('an end that is not planned takes no more tasks and calls no teardown', async t => {
  const { isLoading, say, end, news } = start(t)
  const { resolve } = await isLoading
  resolve()
  await news()
  end()
  assert.deepEqual(await news(), ['intake: stop taking'])
  say({ kind: 'stop' })
  assert.deepEqual(await news(), ['end undefined'])
})
