// The environment of handlers, and their messages and output to the host.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { threadId } from 'node:worker_threads'
import { runProgram } from '../../helpers/program.js'

export const surroundings = {
  async 'a worker sees isWorkerThread, env, argv and workerData'({ open }) {
    const pool = open({ env: { COLOUR: 'blue' }, argv: ['one', 2], workerData: { deep: [1] } })
    const { isWorkerThread, workerData, colour, argv } = await pool.run(undefined, { name: 'where' })
    assert.deepEqual(
      { isWorkerThread, workerData, colour, argv },
      { isWorkerThread: true, workerData: { deep: [1] }, colour: 'blue', argv: ['one', '2'] },
    )
  },

  async 'a WorkerView reports the backend, process and thread of its worker'({ open, backend }) {
    const pool = open()
    const { pid, threadId: number } = await pool.run(undefined, { name: 'where' })
    const [view] = pool.workers
    assert.equal(view.backend, backend)
    assert.equal(view.pid, pid)
    assert.equal(pid !== process.pid, backend === 'process')
    assert.equal(view.process?.pid, backend === 'process' ? pid : undefined)
    assert.equal(view.thread?.threadId, backend === 'thread' ? number : undefined)
    assert.equal(view.threadId, { thread: number, process: -1, inline: threadId }[backend])
    assert.deepEqual(pool.threads, backend === 'thread' ? [view.thread] : [])
    const stats = pool.stats()
    assert.equal(stats.backend, backend)
    assert.equal(stats.transport, { thread: 'shared-memory', process: 'pipe', inline: 'inline' }[backend])
    assert.equal(stats.workers[0].pid, pid)
  },

  async 'a message that a handler sends to its parent arrives as a message event'({ open }) {
    const pool = open()
    const came = once(pool, 'message')
    await pool.run({ kind: 'done', taskId: 1, slot: 0 }, { name: 'send' })
    const [value, worker] = await came
    assert.deepEqual(value, { kind: 'done', taskId: 1, slot: 0 })
    assert.equal(worker, pool.workers[0])
  },

  async 'a handler that closes its channel to the host harms no task'({ open }) {
    const pool = open()
    assert.equal(await pool.run(1, { name: 'vandalise' }), 1)
    assert.equal(await pool.run(2), 2)
    assert.equal(await pool.run(3, { name: 'vandalise' }), 3)
  },

  async 'the standard input of a worker is empty'({ open }) {
    assert.equal(await open().run(undefined, { name: 'readInput' }), '')
  },

  async 'every line that tasks print appears before the program exits'({ backend }) {
    const { output, exitCode } = await runProgram(`
      const pool = new Pool({ filename: handler('conformant.js'), backend: '${backend}', maxWorkers: 2 })
      await Promise.all(Array.from({ length: 500 }, (_, index) => pool.run('line ' + index, { name: 'print' })))
      await pool.destroy()`)
    assert.equal(exitCode, 0)
    assert.equal(output.split('\n').filter(line => line.startsWith('line ')).length, 500)
  },

  async 'an idle pool lets the program exit'({ backend }) {
    const { exitCode, signal, output } = await runProgram(`
      const pool = new Pool({ filename: handler('conformant.js'), backend: '${backend}', maxWorkers: 2 })
      console.log(await pool.run(42))`)
    assert.deepEqual([exitCode, signal, output], [0, null, '42\n'])
  },

  async 'the label names the threads, the processes and the stats() of a pool'({ open, backend }) {
    const pool = open({ label: 'images' })
    assert.equal(pool.stats().label, 'images')
    const { title, threadName } = await pool.run(undefined, { name: 'names' })
    if (backend === 'process') assert.equal(title, 'images')
    if (backend === 'thread' && threadName !== undefined) assert.equal(threadName, 'images')
  },
}
