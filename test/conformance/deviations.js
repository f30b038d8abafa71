// What a backend keeps in another way, and why. `instead` is the promise that it is held to there.
import assert from 'node:assert/strict'
import { workerData } from 'node:worker_threads'
import { handler } from '../helpers/handler.js'
import { rejection } from '../helpers/rejection.js'

const ownThread = 'handlers run on the host’s own thread, and end or block it as any function would'

const neverAwaits = because =>
  Object.fromEntries(
    ['ES module', 'CommonJS'].map(format => [
      `${format}: a loop that never awaits sees that its task is cancelled`,
      { because },
    ]),
  )

export const deviations = {
  thread: {},

  process: {
    ...neverAwaits('processes share no memory, so the news comes by a message'),
    'shared memory is shared': {
      because: 'processes share none',
      instead: 'shared memory is refused by its path, on both ways',
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
    'a port can be transferred': {
      because: 'a port ends in its process',
      instead: 'ports and other objects of the runtime are refused by name and path',
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
      'the heap limit ends the task with an error of its own': {
        because: 'a process at its limit aborts, and no more is known of it than that',
        instead: 'the heap limit ends the task with the signal, and the pool works on',
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
    ...neverAwaits('it blocks the host’s own thread, so nothing can cancel it'),
    'a running task that is cancelled rejects at once, and the next one runs': {
      because: 'nothing can end a handler on the host’s own thread',
      instead:
        'a running task that is cancelled rejects at once, and its place is free when its handler ends',
      async body({ open, journal }) {
        const pool = open()
        const controller = new AbortController()
        const call = rejection(pool.run(journal.task('first'), { name: 'gated', signal: controller.signal }))
        await journal.lines(1)
        controller.abort()
        assert.equal((await call).name, 'AbortError')
        const next = pool.run(journal.task('second', 'other'), { name: 'gated' })
        // As many turns as a task takes many times over.
        for (let turn = 0; turn < 200; turn++) await new Promise(resolve => setImmediate(resolve))
        assert.deepEqual(journal.written, ['first'])
        journal.open()
        await journal.lines(2)
        journal.open('other')
        assert.equal(await next, 'second')
      },
    },
    'a file that ends its worker while it is loaded rejects the calls': { because: ownThread },
    'a call whose own file ends the worker is told that it was loading': { because: ownThread },
    'a worker that exits fails the task that ran there, and the next one runs': { because: ownThread },
    'a worker that exits just after its answer fails nobody': { because: ownThread },
    'an answer larger than any pipe is not lost when its worker exits': { because: ownThread },
    'a worker that exits fails only its started task': { because: ownThread },
    'an uncaught exception rejects the task that runs, and the pool works on': { because: ownThread },
    'an uncaught exception arrives as a class of errorClasses, with data and cause': { because: ownThread },
    'an exception that a listener of the handler catches ends nothing': { because: ownThread },
    'a teardown runs when its worker is recycled, and when the pool closes': {
      because: 'workers of one thread share their modules',
      instead: 'a teardown runs when the last worker that holds its module ends as planned',
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
    'after reload() tasks run the file as it is now': {
      because: 'modules are the program’s, which loads each once',
      instead: 'reload() replaces the workers, and modules stay as they were',
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
    'maxWorkerMemoryMb: a worker that has grown is replaced': { because: 'the heap is the host’s' },
    'maxWorkerMemoryMb: a busy worker that has grown is replaced': { because: 'the heap is the host’s' },
    'retry: a task runs again when its worker died, and is answered': { because: ownThread },
    'retry: a task that ends every worker rejects with TaskQuarantinedError': { because: ownThread },
    'the heap limit ends the task with an error of its own': { because: 'the heap is the host’s' },
    'fifteen deaths leave no handle behind': { because: ownThread },
    'a worker knows that it is one, and is given env, argv and workerData': {
      because: 'its surroundings are the host’s',
      instead:
        'env, argv and workerData are taken, as a pool that was elsewhere has them, and change nothing',
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
    'a message that a handler sends to its parent arrives as an event': {
      because: 'the parent port and process.send speak to whoever started the host',
    },
    'a handler that closes that channel harms no task': { because: 'the channel is the host’s own' },
    'the input of a worker is empty': { because: 'the input is the host’s' },
  },
}
