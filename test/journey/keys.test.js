// Tasks with the same `key` run one after another, in the order of the calls, whatever happens to tasks and workers.
import assert from 'node:assert/strict'
import { TaskCancelledError, TaskQuarantinedError, TaskTimeoutError, WorkerExitError } from 'lido'
import { backends } from '../helpers/backends.js'
import { openKeyed, wrongIn } from '../helpers/keyed.js'
import { test } from '../helpers/pool-test.js'

/** The deaths of workers in one test, from outside and by their handlers. */
const KILLS = 6
const EXITS = 3

const isInline = ({ backend }) => backend === 'inline'

for (const [title, backend] of Object.entries(backends)) {
  const isProcess = backend.backend === 'process'
  const [keys, each] = isProcess || isInline(backend) ? [40, 15] : [100, 100]

  test(`the order of ${keys} keys holds while workers die and calls are cancelled (${title})`, async (open, t) => {
    const { pool, notes, run } = openKeyed(open, t, { ...backend, maxWorkers: 8, cancelGrace: 1 })
    const random = below => Math.floor(Math.random() * below)
    const total = keys * each
    const settled = new Map()
    const calls = []
    const aborts = []
    let awaited = 0
    let onAwaited
    const settles = count =>
      new Promise(resolve => {
        awaited = count
        onAwaited = resolve
      })
    for (let index = 0; index < total; index++) {
      const [key, n] = [index % keys, Math.floor(index / keys)]
      const traits = random(8) > 0 ? {} : { turns: random(20), throws: random(8) === 0 }
      const options = { retry: { attempts: 1 + random(2) } }
      if (index % Math.ceil(total / EXITS) === 0 && !isInline(backend)) {
        Object.assign(traits, { turns: 1, exits: true })
      }
      if (random(50) === 0) {
        const controller = new AbortController()
        options.signal = controller.signal
        aborts.push(controller)
      }
      if (random(100) === 0) options[random(2) ? 'timeout' : 'queueTimeout'] = 1 + random(500)
      const count = () => {
        settled.set(index, (settled.get(index) ?? 0) + 1)
        if (settled.size === awaited) onAwaited()
      }
      calls.push(run(`k${key}`, n, options, traits).finally(count))
    }
    const all = Promise.allSettled(calls)
    for (let kill = 1; kill <= KILLS; kill++) {
      await settles(Math.floor((kill * total) / (KILLS + 1)))
      for (const controller of aborts.splice(0, 10)) controller.abort()
      const worker = pool.workers.filter(({ state }) => state === 'ready')[random(4)]
      if (isInline(backend) || worker === undefined) continue
      if (isProcess && kill % 2 === 0) worker.process.kill('SIGKILL')
      else void worker.terminate()
    }
    const outcomes = await all
    assert.equal(wrongIn(notes()), null)
    assert.deepEqual([settled.size, ...new Set(settled.values())], [total, 1])
    const unexpected = outcomes.filter(
      ({ reason }) =>
        reason !== undefined &&
        reason.message !== 'thrown' &&
        ![WorkerExitError, TaskCancelledError, TaskTimeoutError, TaskQuarantinedError].some(
          Class => reason instanceof Class,
        ),
    )
    assert.deepEqual(unexpected, [])
    const { queue, tasks } = pool.stats()
    assert.deepEqual([queue.size, tasks.waiting, tasks.inFlight], [0, 0, 0])
  })
}
