// A thread that is started before its pool is made belongs to that pool or to nobody.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import type { LinkListener, WorkerSpec } from './backend.js'
import { ThreadBackend } from './thread-backend.js'

const spec = { road: null, workerOptions: {} } as unknown as WorkerSpec

function startOn(backend: ThreadBackend) {
  let onExit!: (exitCode: number) => void
  const ended = new Promise<number>(resolve => {
    onExit = resolve
  })
  const { thread } = backend.start(spec, { onExit } as unknown as LinkListener)
  return { thread: thread!, ended }
}

test('the worker that is started next has the thread that was started ahead, the one after it another', async t => {
  const threads: Worker[] = []
  const note = (thread: Worker) => threads.push(thread)
  process.on('worker', note)
  t.after(() => process.off('worker', note))
  const backend = new ThreadBackend()
  backend.startAhead({})
  const links = [startOn(backend), startOn(backend)]
  await new Promise(setImmediate)
  assert.deepEqual(
    links.map(({ thread }) => thread),
    threads,
  )
  assert.equal(threads.length, 2)
  for (const { thread } of links) void thread.terminate()
  await Promise.all(links.map(({ ended }) => ended))
})

test('one that nothing takes ends: a pool that could not be made leaves no thread behind', async () => {
  const started = once(process, 'worker')
  new ThreadBackend().startAhead({})
  const [thread] = await started
  await once(thread, 'exit')
})
