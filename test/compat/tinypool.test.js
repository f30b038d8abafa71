// The contract of Tinypool, from its README and from what its clients use. Each test runs with the package tinypool and with
// lido/tinypool. The package has no tests of its own.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import * as door from 'lido/tinypool'
import * as peer from 'tinypool'

const filename = new URL('./handlers/tinypool.mjs', import.meta.url).href

function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'lido-tinypool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

for (const [name, tinypool] of [
  ['tinypool', peer],
  ['lido/tinypool', door],
]) {
  const { default: Tinypool } = tinypool
  const isDoor = tinypool === door

  async function usePool(options, use) {
    const pool = new Tinypool({ filename, minThreads: 1, maxThreads: 1, ...options })
    try {
      return await use(pool)
    } finally {
      await pool.destroy()
    }
  }

  describe(name, { timeout: 120_000 }, () => {
    test('the module exports the names of tinypool', () => {
      for (const exported of Object.keys(peer)) assert.ok(exported in tinypool, exported)
      assert.equal(tinypool.Tinypool, Tinypool)
      assert.equal(tinypool.workerId, undefined)
      assert.equal(Tinypool.version, peer.default.version)
      assert.equal(Tinypool.isWorkerThread, false)
      assert.equal(Tinypool.workerData, undefined)
      assert.equal(Tinypool.transferableSymbol, Symbol.for('Tinypool.transferable'))
      assert.equal(Tinypool.valueSymbol, Symbol.for('Tinypool.valueOf'))
      assert.equal(Tinypool.queueOptionsSymbol, Symbol.for('Tinypool.queueOptions'))
    })

    test('conflicting thread counts throw, and shares of the cores are accepted', async () => {
      assert.throws(() => new Tinypool({ minThreads: 2, maxThreads: 1 }), {
        name: 'RangeError',
        message: 'options.minThreads and options.maxThreads must not conflict',
      })
      await usePool({ minThreads: 0.1, maxThreads: 0.1 }, pool => {
        assert.equal(pool.options.maxThreads, 1)
        assert.equal(pool.options.minThreads, 1)
      })
    })

    test('a call without a file rejects', async () => {
      await usePool({ filename: undefined }, async pool => {
        await assert.rejects(
          pool.run({}),
          /^Error: filename must be provided to run\(\) or in options object$/,
        )
        assert.equal(await pool.run({ a: 1, b: 2 }, { filename }), 3)
      })
    })

    for (const runtime of ['worker_threads', 'child_process']) {
      describe(runtime, () => {
        test('a task runs, and pool.threads shows its worker', async () => {
          await usePool({ runtime }, async pool => {
            assert.equal(await pool.run({ a: 1, b: 2 }), 3)
            const [worker] = pool.threads
            assert.equal(pool.threads.length, 1)
            assert.equal(worker.runtime, runtime)
            assert.ok(runtime === 'child_process' ? worker.process.pid === worker.threadId : worker.thread)
            assert.equal(pool.completed, 1)
            assert.equal(pool.queueSize, 0)
            assert.ok(pool.duration > 0)
          })
        })

        test('a worker knows its id and its data', async () => {
          await usePool({ runtime, workerData: { language: 'fr' } }, async pool => {
            const { state, workerData } = await pool.run(0, { name: 'worker' })
            assert.equal(state.workerId, 1)
            assert.equal(state.isTinypoolWorker, true)
            if (runtime === 'worker_threads') {
              assert.equal(state.isWorkerThread, true)
              assert.deepEqual(state.workerData, { language: 'fr' })
              assert.equal(workerData[0].workerId, 1)
              assert.deepEqual(workerData[1], { language: 'fr' })
            } else {
              assert.equal(state.isChildProcess, true)
              assert.equal(state.workerData, null)
            }
          })
        })

        test('the errors of a function and of a missing function arrive', async () => {
          await usePool({ runtime }, async pool => {
            await assert.rejects(pool.run(0, { name: 'fail' }), { message: 'the number is too large' })
            await assert.rejects(pool.run(0, { name: 'nothing' }), ({ message }) => {
              assert.match(message, /^No handler function "nothing" exported from ".*tinypool\.mjs"$/)
              return true
            })
            assert.equal(await pool.run(1, { name: 'echo' }), 1)
          })
        })

        test('an abort ends the worker of a running task', async t => {
          const file = join(makeFolder(t), 'started')
          await usePool({ runtime }, async pool => {
            const { id } = await pool.run(0, { name: 'worker' })
            for (const signal of [new EventEmitter(), new AbortController()]) {
              rmSync(file, { force: true })
              const running = pool.run(file, { name: 'spin', signal: signal.signal ?? signal })
              while (!existsSync(file)) await delay(5)
              signal.signal ? signal.abort() : signal.emit('abort')
              await assert.rejects(running, { name: 'AbortError', message: 'The task has been aborted' })
            }
            assert.notEqual((await pool.run(0, { name: 'worker' })).id, id)
            await assert.rejects(pool.run(0, { signal: AbortSignal.abort() }), { name: 'AbortError' })
          })
        })

        test('cancelPendingTasks() rejects queued tasks and no running task', async () => {
          await usePool({ runtime: 'worker_threads' }, async pool => {
            await pool.run(0, { name: 'echo' })
            const { port1, port2 } = new MessageChannel()
            const running = pool.run({ port: port2 }, { name: 'untilTold', transferList: [port2] })
            const queued = [1, 2].map(value => pool.run(value, { name: 'echo' }))
            assert.equal(pool.queueSize, 2)
            assert.equal(pool.options.taskQueue.size, 0)
            pool.cancelPendingTasks()
            for (const task of queued) {
              await assert.rejects(task, { name: 'CancelError', message: 'The task has been cancelled' })
            }
            port1.postMessage('told')
            assert.equal(await running, 'told')
            port1.close()
          })
        })

        test('isolateWorkers gives each task a new worker, with ids up to maxThreads', async () => {
          await usePool({ runtime, isolateWorkers: true, maxThreads: 2 }, async pool => {
            const workers = await Promise.all([1, 2, 3, 4].map(() => pool.run(0, { name: 'worker' })))
            assert.equal(new Set(workers.map(({ id }) => id)).size, 4)
            for (const { state } of workers) assert.ok([1, 2].includes(state.workerId), state.workerId)
            await assert.rejects(pool.run(0, { name: 'fail' }), { message: 'the number is too large' })
          })
        })

        test('recycleWorkers() replaces the workers', async () => {
          await usePool({ runtime }, async pool => {
            assert.equal(await pool.run(0, { name: 'countCalls' }), 1)
            assert.equal(await pool.run(0, { name: 'countCalls' }), 2)
            await pool.recycleWorkers()
            assert.equal(await pool.run(0, { name: 'countCalls' }), 1)
          })
        })

        test('recycleWorkers() does not wait for running tasks', async () => {
          await usePool({ runtime, minThreads: 2, maxThreads: 2 }, async pool => {
            const folder = mkdtempSync(join(tmpdir(), 'lido-tinypool-'))
            const file = join(folder, 'file')
            const running = pool.run(file, { name: 'untilFile' })
            await pool.run(0, { name: 'echo' })
            await pool.recycleWorkers()
            writeFileSync(file, '')
            assert.equal(await running, 'seen')
            rmSync(folder, { recursive: true })
          })
        })

        test('recycleWorkers({ runtime }) moves later tasks to the other runtime', async () => {
          await usePool({ runtime }, async pool => {
            await pool.run(0, { name: 'echo' })
            const other = runtime === 'child_process' ? 'worker_threads' : 'child_process'
            await pool.recycleWorkers({ runtime: other })
            const { state } = await pool.run(0, { name: 'worker' })
            assert.equal(Boolean(state.isChildProcess), other === 'child_process')
          })
        })

        test('destroy() runs the teardown of idle workers and rejects running and queued tasks', async t => {
          const file = join(makeFolder(t), 'teardown')
          const pool = new Tinypool({ filename, runtime, minThreads: 1, maxThreads: 1, teardown: 'teardown' })
          await pool.run({ file }, { name: 'writeFile' })
          await pool.destroy()
          assert.ok(existsSync(file))
          assert.equal(pool.threads.length, 0)
          const other = new Tinypool({ filename, runtime: 'worker_threads', minThreads: 1, maxThreads: 1 })
          await other.run(0, { name: 'echo' })
          const { port2 } = new MessageChannel()
          const tasks = [other.run({ port: port2 }, { name: 'untilTold', transferList: [port2] })]
          tasks.push(other.run(1, { name: 'echo' }))
          const rejected = tasks.map(task => assert.rejects(task, { message: 'Terminating worker thread' }))
          await other.destroy()
          await Promise.all(rejected)
        })
      })
    }

    test('a full queue rejects with the texts of tinypool', async () => {
      await usePool({ maxQueue: 1 }, async pool => {
        await pool.run(0, { name: 'echo' })
        const { port1, port2 } = new MessageChannel()
        const running = pool.run({ port: port2 }, { name: 'untilTold', transferList: [port2] })
        const queued = pool.run(1, { name: 'echo' })
        await assert.rejects(pool.run(2, { name: 'echo' }), /^Error: Task queue is at limit$/)
        port1.postMessage('told')
        assert.equal(await running, 'told')
        assert.equal(await queued, 1)
        port1.close()
      })
      await usePool({ maxQueue: 0 }, async pool => {
        await pool.run(0, { name: 'echo' })
        const { port1, port2 } = new MessageChannel()
        const running = pool.run({ port: port2 }, { name: 'untilTold', transferList: [port2] })
        await assert.rejects(
          pool.run(2, { name: 'echo' }),
          /^Error: No task queue available and all Workers are busy$/,
        )
        port1.postMessage('told')
        await running
        port1.close()
      })
    })

    test('move() transfers a task, and a queue of the program decides the order', async () => {
      const buffer = new ArrayBuffer(8)
      const seen = []
      const taskQueue = {
        tasks: [],
        get size() {
          return this.tasks.length
        },
        push(task) {
          seen.push(task[Tinypool.queueOptionsSymbol])
          this.tasks.push(task)
        },
        shift() {
          return this.tasks.pop() ?? null
        },
        remove(task) {
          this.tasks.splice(this.tasks.indexOf(task), 1)
        },
        cancel() {},
      }
      await usePool({ taskQueue }, async pool => {
        await pool.run(Tinypool.move(buffer), { name: 'typeOf' })
        assert.equal(buffer.byteLength, 0)
        const { port1, port2 } = new MessageChannel()
        const running = pool.run({ port: port2 }, { name: 'untilTold', transferList: [port2] })
        const order = []
        const queued = [1, 2, 3].map(value =>
          pool
            .run({ value, [Tinypool.queueOptionsSymbol]: { value } }, { name: 'echo' })
            .then(() => order.push(value)),
        )
        port1.postMessage('told')
        await Promise.all([running, ...queued])
        assert.deepEqual(order, [3, 2, 1])
        assert.deepEqual(
          seen.filter(options => options !== null),
          [1, 2, 3].map(value => ({ value })),
        )
        port1.close()
      })
    })

    test('a channel carries messages between the program and a process', async () => {
      await usePool({ runtime: 'child_process' }, async pool => {
        const messages = []
        let send
        let closed = 0
        const channel = {
          onMessage(listener) {
            send = listener
          },
          postMessage(message) {
            messages.push(message)
            if (message === 'listening') send('question')
          },
          onClose: () => closed++,
        }
        assert.equal(await pool.run(0, { name: 'answers', channel }), 'done')
        assert.deepEqual(messages, ['listening', 'answer to question'])
        assert.equal(closed, 0)
        await pool.run(0, { name: 'echo', channel: {} })
        assert.equal(closed, 1)
      })
    })

    test('a thread refuses a channel with functions, and closes a channel when it ends', async () => {
      await usePool({}, async pool => {
        await assert.rejects(
          pool.run(0, { channel: { onMessage() {} } }),
          /^Error: { runtime: 'worker_threads' } doesn't support channel\.onMessage\. Use transferListItem for listening/,
        )
        await assert.rejects(
          pool.run(0, { channel: { postMessage() {} } }),
          /^Error: { runtime: 'worker_threads' } doesn't support channel\.postMessage\. Use transferListItem for sending/,
        )
      })
      let closed = 0
      await usePool({ isolateWorkers: true }, async pool => {
        await pool.run(0, { name: 'echo', channel: { onClose: () => closed++ } })
        assert.equal(closed, 1)
      })
    })

    test('a process that exits rejects its task, and another one takes its place', async () => {
      await usePool({ runtime: 'child_process' }, async pool => {
        await assert.rejects(pool.run(0, { name: 'exit' }), { message: 'Worker exited unexpectedly' })
        assert.equal(await pool.run(1, { name: 'echo' }), 1)
      })
    })

    test('a process gets what JSON makes of a task, and with advanced serialization the value itself', async () => {
      const task = new Map([[1, new Date(0)]])
      await usePool({ runtime: 'child_process' }, async pool => {
        assert.equal(await pool.run(task, { name: 'typeOf' }), '[object Object]')
        assert.deepEqual(await pool.run({ at: new Date(0) }, { name: 'echo' }), {
          at: '1970-01-01T00:00:00.000Z',
        })
      })
      await usePool({ runtime: 'child_process', serialization: 'advanced' }, async pool => {
        assert.equal(await pool.run(task, { name: 'typeOf' }), '[object Map]')
      })
    })

    test('the pool emits drain when its queue becomes empty', async () => {
      await usePool({}, async pool => {
        await pool.run(0, { name: 'echo' })
        const drained = once(pool, 'drain')
        await Promise.all([1, 2, 3].map(value => pool.run(value, { name: 'echo' })))
        await drained
      })
    })

    if (isDoor) {
      test('an error of a process keeps its class', async () => {
        await usePool({ runtime: 'child_process' }, async pool => {
          await assert.rejects(pool.run(0, { name: 'fail' }), RangeError)
        })
      })

      test('an exit of a thread rejects its task', async () => {
        await usePool({}, async pool => {
          await assert.rejects(pool.run(0, { name: 'exit' }), { message: 'Worker exited unexpectedly' })
        })
      })

      test('a pool runs tasks again after destroy()', async () => {
        await usePool({}, async pool => {
          await pool.destroy()
          assert.equal(await pool.run({ a: 1, b: 2 }), 3)
        })
      })
    }
  })
}
