// The contract of workerpool, from its README and from what its clients use. Each test runs with the package workerpool and
// with lido/workerpool. The package has no tests of its own.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import door from 'lido/workerpool'
import peer from 'workerpool'

const require = createRequire(import.meta.url)
const script = fileURLToPath(new URL('./handlers/workerpool.cjs', import.meta.url))

function makeFile(t) {
  const folder = mkdtempSync(join(tmpdir(), 'lido-workerpool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'file')
}

async function untilExists(file) {
  while (!existsSync(file)) await delay(5)
}

for (const [name, workerpool] of [
  ['workerpool', peer],
  ['lido/workerpool', door],
]) {
  const isDoor = workerpool === door
  const env = { ...process.env, WORKERPOOL: require.resolve(name) }

  async function usePool(options, use) {
    const pool = workerpool.pool(script, {
      maxWorkers: 1,
      forkOpts: { env },
      workerThreadOpts: { env },
      ...options,
    })
    try {
      return await use(pool)
    } finally {
      await pool.terminate(true)
    }
  }

  describe(name, { timeout: 120_000 }, () => {
    test('the module has the members of workerpool', () => {
      for (const member of Object.keys(peer)) assert.ok(member in workerpool, member)
      assert.equal(workerpool.cpus, cpus().length)
      assert.equal(workerpool.platform, 'node')
      const { Promise: WorkerpoolPromise } = workerpool
      assert.equal(typeof WorkerpoolPromise.defer().promise.cancel, 'function')
      assert.equal(new WorkerpoolPromise.CancellationError().name, 'CancellationError')
      assert.equal(new WorkerpoolPromise.TimeoutError().message, 'timeout exceeded')
    })

    // On a busy machine, workerpool itself loses some of them.
    for (const workerType of isDoor ? ['thread', 'process'] : []) {
      test(`events and output of an abort listener arrive (${workerType})`, async () => {
        await usePool({ workerType, emitStdStreams: true }, async pool => {
          const expected = [{ cleanup: true }, { stdout: 'cleaned\n' }]
          const events = []
          let waiting
          // A pool without a task does not keep the program alive.
          const alive = setInterval(() => {}, 60_000)
          await new Promise(resolve => {
            const on = event => {
              if (event.waits) waiting.cancel()
              else if (events.push(event) === expected.length) resolve()
            }
            waiting = pool.exec('waitForAbort', [], { on })
            waiting.catch(() => {})
          })
          clearInterval(alive)
          await assert.rejects(waiting, { name: 'CancellationError' })
          assert.deepEqual(new Set(events), new Set(expected))
        })
      })
    }

    test('a thrown object arrives as an error with its fields', async () => {
      await usePool({}, async pool => {
        for (const [method, params, fields] of [
          ['throwObject', [false], { message: 'no', code: 'E_X' }],
          ['throwObject', [true], { message: 'json' }],
          ['throwObjectLater', [], { message: 'later' }],
        ]) {
          const error = await pool.exec(method, params).then(assert.fail, failure => failure)
          assert.ok(error instanceof Error, method)
          assert.deepEqual({ ...error, message: error.message }, fields)
        }
      })
    })

    test('wrong options throw the errors of workerpool', () => {
      for (const [options, message] of [
        [{ maxWorkers: 0 }, 'Option maxWorkers must be an integer number >= 1'],
        [{ minWorkers: 1.5 }, 'Option minWorkers must be an integer number >= 0'],
        [{ queueStrategy: 'random' }, 'Unknown queue strategy: random'],
        [{ queueStrategy: {} }, 'Queue strategy must implement method: push'],
      ]) {
        assert.throws(() => workerpool.pool(script, options), { message })
      }
      const pool = workerpool.pool(script, { workerThreadOpts: { colour: 1 } })
      assert.throws(() => pool.exec('add', [1, 2]), {
        message: 'Object "workerThreadOpts" contains an unknown option "colour"',
      })
      assert.throws(() => workerpool.pool().exec('add', 1), {
        message: 'Array expected as argument "params"',
      })
      assert.throws(() => workerpool.pool().exec(1), {
        message: 'Function or string expected as argument "method"',
      })
    })

    test('a pool without a script runs functions of the program', async () => {
      const pool = workerpool.pool({ maxWorkers: 1 })
      assert.equal(await pool.exec((a, b) => a * b, [6, 7]), 42)
      await assert.rejects(pool.exec('add', [1, 2]), { message: 'Unknown method "add"' })
      await pool.terminate()
    })

    for (const workerType of ['thread', 'process']) {
      describe(workerType, () => {
        test('exec() and proxy() call the methods of the script', async () => {
          await usePool({ workerType }, async pool => {
            assert.equal(await pool.exec('add', [1, 2]), 3)
            const methods = await pool.proxy()
            assert.equal(await methods.add(3, 4), 7)
            assert.ok('run' in methods && 'methods' in methods)
            assert.equal(await pool.exec('isMainThread'), false)
            await assert.rejects(pool.exec('nothing'), { message: 'Unknown method "nothing"' })
            await assert.rejects(pool.exec('fail'), { message: 'the number is too large', code: 'TOO_LARGE' })
          })
        })

        test('promises have always() and catch()', async () => {
          await usePool({ workerType }, async pool => {
            assert.equal(await pool.exec('add', [1, 2]).always(sum => sum * 2), 6)
            assert.equal(await pool.exec('fail').always(error => error.code), 'TOO_LARGE')
            const call = pool.exec('fail').catch(error => error.code)
            assert.equal(await call, 'TOO_LARGE')
            assert.deepEqual([call.resolved, call.rejected, call.pending], [true, false, false])
          })
        })

        test('events arrive in order, before the result', async () => {
          await usePool({ workerType }, async pool => {
            const seen = []
            assert.equal(await pool.exec('events', [3], { on: event => seen.push(event) }), 'done')
            assert.deepEqual(seen, [{ at: 0 }, { at: 1 }, { at: 2 }])
            assert.equal(await pool.exec('events', [3]), 'done')
          })
        })

        // With workerpool, the output of a process may come after the result. Then it is lost.
        if (isDoor) {
          test('emitStdStreams gives the output to the listener', async () => {
            await usePool({ workerType, emitStdStreams: true }, async pool => {
              const seen = []
              await pool.exec('print', ['text'], { on: event => seen.push(event) })
              assert.deepEqual(seen, [{ stdout: 'text' }])
            })
          })
        }

        test('cancel() rejects the call and ends the worker', async t => {
          const file = makeFile(t)
          await usePool({ workerType }, async pool => {
            const where = await pool.exec('where')
            const running = pool.exec('until', [file])
            await untilExists(`${file}.started`)
            assert.equal(running.cancel(), running)
            await assert.rejects(running, workerpool.Promise.CancellationError)
            assert.notEqual(await pool.exec('where'), where)
          })
        })

        test('a worker survives when its abort listener resolves', async t => {
          const file = makeFile(t)
          await usePool({ workerType }, async pool => {
            const where = await pool.exec('where')
            const running = pool.exec('patient', [file])
            await untilExists(file)
            running.cancel()
            await assert.rejects(running, { name: 'CancellationError' })
            assert.equal(await pool.exec('where'), where)
          })
        })

        test('timeout() counts from the start of the task', async t => {
          const file = makeFile(t)
          await usePool({ workerType, workerTerminateTimeout: 50 }, async pool => {
            const where = await pool.exec('where')
            const first = pool.exec('until', [`${file}2`])
            const second = pool.exec('spin', [file]).timeout(100)
            await untilExists(`${file}2.started`)
            await delay(150)
            assert.equal(second.pending, true)
            writeFileSync(`${file}2`, '')
            assert.equal(await first, 'seen')
            await assert.rejects(second, { name: 'TimeoutError', message: 'Promise timed out after 100 ms' })
            assert.ok(existsSync(file))
            assert.notEqual(await pool.exec('where'), where)
          })
        })

        test('a worker that exits rejects its task, and another one takes its place', async () => {
          await usePool({ workerType }, async pool => {
            await assert.rejects(pool.exec('exit'), error => {
              assert.ok(error instanceof workerpool.TerminateError)
              assert.match(error.message, /^Workerpool Worker terminated Unexpectedly\n {4}exitCode: `3`/)
              return true
            })
            assert.equal(await pool.exec('add', [1, 2]), 3)
          })
        })

        test('stats() counts workers and tasks, and maxQueueSize limits the queue', async t => {
          const file = makeFile(t)
          await usePool({ workerType, maxQueueSize: 1 }, async pool => {
            assert.equal(pool.stats().totalWorkers, 0)
            const running = pool.exec('until', [file])
            await untilExists(`${file}.started`)
            const queued = pool.exec('add', [1, 2])
            assert.deepEqual(pool.stats(), {
              totalWorkers: 1,
              busyWorkers: 1,
              idleWorkers: 0,
              pendingTasks: 1,
              activeTasks: 1,
            })
            assert.throws(() => pool.exec('add', [1, 2]), { message: 'Max queue size of 1 reached' })
            writeFileSync(file, '')
            assert.deepEqual(await Promise.all([running, queued]), ['seen', 3])
          })
        })

        test('terminate() lets running tasks finish, rejects queued ones and calls onTerminate', async t => {
          const file = makeFile(t)
          const ended = []
          await usePool({ workerType, onTerminateWorker: arg => ended.push(arg.script) }, async pool => {
            await pool.exec('writeAtEnd', [`${file}.ended`])
            const running = pool.exec('until', [file])
            await untilExists(`${file}.started`)
            const queued = pool.exec('add', [1, 2])
            const terminated = pool.terminate()
            await assert.rejects(queued, { message: 'Pool terminated' })
            writeFileSync(file, '')
            assert.equal(await running, 'seen')
            assert.equal((await terminated).length, 1)
            assert.ok(existsSync(`${file}.ended`))
            assert.deepEqual(ended, [script])
            assert.equal(pool.stats().totalWorkers, 0)
            assert.equal(await pool.exec('add', [1, 2]), 3)
          })
        })

        test('terminate(true) rejects running tasks', async t => {
          const file = makeFile(t)
          await usePool({ workerType, workerTerminateTimeout: 50 }, async pool => {
            const running = pool.exec('spin', [file])
            await untilExists(file)
            const queued = pool.exec('add', [1, 2])
            const rejected = Promise.all([
              assert.rejects(running, { message: 'Worker terminated' }),
              assert.rejects(queued, { message: 'Pool terminated' }),
            ])
            await pool.terminate(true)
            await rejected
          })
        })

        test('onCreateWorker changes the options of each worker', async () => {
          let count = 0
          const onCreateWorker = () => {
            const own = { ...env, WORKER_NUMBER: String(count++) }
            return { forkOpts: { env: own }, workerThreadOpts: { env: own, workerData: { own: true } } }
          }
          await usePool({ workerType, onCreateWorker }, async pool => {
            assert.equal(await pool.exec('variable', ['WORKER_NUMBER']), '0')
            if (workerType === 'thread') assert.deepEqual(await pool.exec('data'), { own: true })
            await assert.rejects(pool.exec('exit'))
            assert.equal(await pool.exec('variable', ['WORKER_NUMBER']), '1')
          })
        })

        test('queueStrategy and metadata decide the order', async t => {
          const file = makeFile(t)
          const tasks = []
          const byPriority = {
            push: task => tasks.push(task),
            pop() {
              tasks.sort((one, other) => (one.options?.metadata ?? 0) - (other.options?.metadata ?? 0))
              return tasks.pop()
            },
            size: () => tasks.length,
            contains: task => tasks.includes(task),
            clear: () => tasks.splice(0),
          }
          for (const [queueStrategy, expected] of [
            ['lifo', [3, 2, 1]],
            ['fifo', [1, 2, 3]],
            [byPriority, [2, 3, 1]],
          ]) {
            rmSync(file, { force: true })
            rmSync(`${file}.started`, { force: true })
            await usePool({ workerType, queueStrategy }, async pool => {
              const running = pool.exec('until', [file])
              await untilExists(`${file}.started`)
              const order = []
              const queued = [1, 2, 3].map((value, index) =>
                pool.exec('add', [value, 0], { metadata: [1, 3, 2][index] }).then(sum => order.push(sum)),
              )
              writeFileSync(file, '')
              await Promise.all([running, ...queued])
              assert.deepEqual(order, expected)
            })
          }
        })
      })
    }

    test('a thread gets transferred parameters and transfers its result', async () => {
      await usePool({ workerType: 'thread' }, async pool => {
        const numbers = new Uint8Array([1, 2, 3])
        assert.equal(await pool.exec('sum', [numbers], { transfer: [numbers.buffer] }), 6)
        assert.equal(numbers.length, 0)
        assert.deepEqual(await pool.exec('bytes', [2]), new Uint8Array([7, 7]))
      })
    })

    test('a process gets what JSON makes of a parameter', async () => {
      await usePool({ workerType: 'process' }, async pool => {
        assert.equal(await pool.exec('typeOf', [new Date(0)]), '[object String]')
      })
      const forkOpts = { env, serialization: 'advanced' }
      await usePool({ workerType: 'process', forkOpts }, async pool => {
        assert.equal(await pool.exec('typeOf', [new Date(0)]), '[object Date]')
      })
    })

    test('minWorkers starts workers at once', async () => {
      await usePool({ minWorkers: 'max', maxWorkers: 2 }, pool => {
        assert.equal(pool.stats().totalWorkers, 2)
      })
    })

    test('worker() outside a worker, and workers of type web, are refused', async () => {
      if (isDoor)
        assert.throws(() => workerpool.worker({}), { message: 'Script must be executed as a worker' })
      const pool = workerpool.pool(script, { workerType: 'web' })
      assert.throws(() => pool.exec('add', [1, 2]), { message: 'WorkerPool: Web Workers not supported' })
    })

    // workerpool 10.0.3 documents these, but they do not work there.
    if (isDoor) {
      test('this.worker.emit() sends an event', async () => {
        await usePool({}, async pool => {
          const seen = []
          await pool.exec('emit', [1], { on: event => seen.push(event) })
          assert.deepEqual(seen, [1])
        })
      })

      test('terminate(false, timeout) rejects when a task runs longer', async t => {
        const file = makeFile(t)
        await usePool({}, async pool => {
          const running = pool.exec('until', [file])
          await untilExists(`${file}.started`)
          await assert.rejects(pool.terminate(false, 20), { name: 'TimeoutError' })
          writeFileSync(file, '')
          assert.equal(await running, 'seen')
        })
      })

      test('finally() settles', async () => {
        await usePool({}, async pool => {
          assert.equal(await pool.exec('add', [1, 2]).finally(() => 0), 3)
          await assert.rejects(
            pool.exec('fail').finally(() => 0),
            { code: 'TOO_LARGE' },
          )
        })
      })

      test('an error keeps its class', async () => {
        await usePool({}, async pool => {
          await assert.rejects(pool.exec('fail'), RangeError)
        })
      })
    }
  })
}
