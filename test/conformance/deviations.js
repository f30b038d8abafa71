// The common tests that a backend cannot pass, and why (`because`). `instead` is the title of the test that replaces one.
import assert from 'node:assert/strict'
import { workerData } from 'node:worker_threads'
import { handler } from '../helpers/handler.js'
import { rejection } from '../helpers/rejection.js'

const ownThread = 'inline handlers run on the host thread and can end or block it'

const neverAwaits = because =>
  Object.fromEntries(
    ['ES module', 'CommonJS'].map(format => [
      `a handler in a synchronous loop sees its cancellation (${format})`,
      { because },
    ]),
  )

export const deviations = {
  thread: {},

  process: {
    ...neverAwaits('a worker process learns of a cancellation only by a message'),
    'a SharedArrayBuffer stays shared as payload and as result': {
      because: 'processes share no memory',
      instead: 'a SharedArrayBuffer is refused with its path, as payload and as result',
      async body({ open }) {
        const pool = open()
        const payload = await rejection(pool.run({ deep: [new Int32Array(new SharedArrayBuffer(8))] }))
        assert.equal(payload.code, 'ERR_LIDO_NOT_CLONEABLE')
        assert.equal(payload.path, 'payload.deep[0]')
        assert.match(payload.message, /SharedArrayBuffer/)
        const result = await rejection(pool.run(undefined, { name: 'shared' }))
        assert.equal(result.path, 'result.words')
        assert.equal(await pool.run(2), 2)
      },
    },
    'a MessagePort can be transferred in a payload': {
      because: 'a port cannot leave its process',
      instead: 'a MessagePort and a Blob are refused with their class names and paths',
      async body({ open }) {
        const pool = open()
        const { port1 } = new MessageChannel()
        const transferred = await rejection(pool.run({ port: port1 }, { transferList: [port1] }))
        assert.equal(transferred.path, 'payload.port')
        assert.match(transferred.message, /MessagePort/)
        const blob = await rejection(pool.run({ list: [new Blob(['abc'])] }))
        assert.equal(blob.path, 'payload.list[0]')
        assert.match(blob.message, /Blob/)
        port1.close()
        assert.equal(await pool.run(2), 2)
      },
    },
    ...(process.platform !== 'linux' && {
      'a task that reaches the heap limit rejects with ERR_WORKER_OUT_OF_MEMORY': {
        because: 'a process at its heap limit aborts without a reason',
        instead: 'a task that reaches the heap limit rejects with SIGABRT, and the pool keeps working',
        async body({ open }) {
          const pool = open({ resourceLimits: { maxOldGenerationSizeMb: 32 } })
          const error = await rejection(pool.run(undefined, { name: 'eat' }))
          assert.deepEqual([error.code, error.signal], ['ERR_LIDO_WORKER_EXIT', 'SIGABRT'])
          assert.equal(await pool.run(2), 2)
        },
      },
    }),
  },

  inline: {
    ...neverAwaits('the loop blocks the host, so nothing can cancel its task'),
    'a cancelled running task rejects at once, and the next task runs': {
      because: 'nothing can stop a handler on the host thread',
      instead: 'a cancelled running task rejects at once and keeps its slot until its handler returns',
      async body({ open, journal }) {
        const pool = open()
        const controller = new AbortController()
        const call = rejection(pool.run(journal.task('first'), { name: 'gated', signal: controller.signal }))
        await journal.lines(1)
        controller.abort()
        assert.equal((await call).name, 'AbortError')
        const next = pool.run(journal.task('second', 'other'), { name: 'gated' })
        // These are many more turns than a task needs.
        for (let turn = 0; turn < 200; turn++) await new Promise(resolve => setImmediate(resolve))
        assert.deepEqual(journal.written, ['first'])
        journal.open()
        await journal.lines(2)
        journal.open('other')
        assert.equal(await next, 'second')
      },
    },
    'a file that exits its worker at load rejects the call': { because: ownThread },
    "a call whose own file exits the worker rejects with stage 'load'": { because: ownThread },
    'a worker exit rejects the running task, and the next task runs': { because: ownThread },
    'a worker that exits right after its answer rejects no task': { because: ownThread },
    'an 8 MiB answer arrives although its worker exits right after it': { because: ownThread },
    'a worker exit rejects only its started task, and the other tasks run in order': { because: ownThread },
    'an uncaught exception rejects the running task, and the pool keeps working': { because: ownThread },
    'an uncaught exception of a class in errorClasses keeps its class, data and cause': {
      because: ownThread,
    },
    'an exception that an uncaughtException listener catches does not end the worker': { because: ownThread },
    'a teardown runs after recycle() and after close()': {
      because: 'workers of one thread share their modules',
      instead: 'a teardown runs when the last inline worker that uses its module stops',
      async body({ open, journal }) {
        const options = { filename: handler('conformant-teardown.js') }
        const pool = open(options)
        await pool.run({ journal: journal.path })
        await pool.recycle()
        const other = open(options)
        await other.run({ journal: journal.path })
        await pool.close()
        assert.deepEqual(journal.written, [])
        await other.close()
        assert.deepEqual(journal.written, ['torn down'])
      },
    },
    'tasks run the changed file after reload()': {
      because: 'the host loads each module only once',
      instead: 'reload() replaces the workers and keeps the loaded modules',
      async body({ open, journal }) {
        const file = journal.write('handler.mjs', 'export default () => "old"')
        const pool = open({ filename: file })
        const [old] = pool.workers
        assert.equal(await pool.run(), 'old')
        journal.write('handler.mjs', 'export default () => "new"')
        await pool.reload()
        assert.notEqual(pool.workers[0].id, old.id)
        assert.equal(await pool.run(), 'old')
      },
    },
    'maxWorkerMemoryMb replaces a worker above the limit': {
      because: 'inline workers use the heap of the host',
    },
    'maxWorkerMemoryMb replaces a busy worker above the limit': {
      because: 'inline workers use the heap of the host',
    },
    'a task with retry runs again after its worker exited': { because: ownThread },
    'a task with retry that exits every worker rejects with TaskQuarantinedError': { because: ownThread },
    'a task that reaches the heap limit rejects with ERR_WORKER_OUT_OF_MEMORY': {
      because: 'inline workers use the heap of the host',
    },
    'fifteen worker exits leave no handle open': { because: ownThread },
    'a worker sees isWorkerThread, env, argv and workerData': {
      because: 'inline workers use the environment of the host',
      instead: 'env, argv and workerData are accepted and have no effect',
      async body({ open }) {
        const pool = open({ env: { COLOUR: 'blue' }, argv: ['one', 2], workerData: { deep: [1] } })
        const {
          isWorkerThread,
          workerData: given,
          colour,
          argv,
        } = await pool.run(undefined, { name: 'where' })
        assert.deepEqual(
          { isWorkerThread, given, colour, argv },
          {
            isWorkerThread: false,
            given: workerData ?? undefined,
            colour: process.env.COLOUR,
            argv: process.argv.slice(2),
          },
        )
      },
    },
    'a message that a handler sends to its parent arrives as a message event': {
      because: 'parentPort and process.send() of the host reach the parent of the host',
    },
    'a handler that closes its channel to the host harms no task': {
      because: 'the channel belongs to the host',
    },
    'the standard input of a worker is empty': {
      because: 'inline workers use the standard input of the host',
    },
  },
}
