// After many pools have lived and ended, each in its own way, the process has exactly what it had before: threads, file
// descriptors, handles, timers, ports and listeners. Each way in a process of its own, so that the count is exact.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'

const rounds = 6

/** What a round does with `pool` (a function that makes one) before the process is counted. */
const ways = {
  'close() after work': `
    const pool = open({ minThreads: 2, maxThreads: 3 })
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 20 }, (_, index) => pool.run(index, { signal })))
    await pool.close()`,
  'destroy() while it starts': `
    const pool = open({ minThreads: 3, maxThreads: 3 })
    const calls = [1, 2, 3].map(index => pool.run(index).catch(() => {}))
    await pool.destroy()
    await Promise.all(calls)`,
  'destroy() of endless loops': `
    const words = new Int32Array(new SharedArrayBuffer(64))
    const pool = open({ filename: handler('tracked.js'), name: 'endless', minThreads: 2, maxThreads: 2 })
    const calls = [0, 1, 2].map(index => pool.run({ words, size: 4, index }).catch(() => {}))
    while (Atomics.load(words, 0) < 2) await new Promise(resolve => setImmediate(resolve))
    await pool.destroy()
    await Promise.all(calls)`,
  'deaths, then close()': `
    const pool = open({ minThreads: 2, maxThreads: 2 })
    await pool.run(1)
    await Promise.all(pool.workers.map(worker => worker.terminate()))
    await Promise.all([1, 2, 3].map(index => pool.run(index)))
    await Promise.all(pool.threads.map(thread => thread.terminate()))
    await pool.close()`,
  'a file that does not load': `
    const pool = open({ filename: '/no/such/file.js', minThreads: 2, maxThreads: 2 })
    await Promise.all([1, 2].map(index => pool.run(index).catch(() => {})))
    await pool.close()`,
  'aborts, errors and what cannot be cloned': `
    const pool = open({ filename: handler('throwing.js'), minThreads: 1, maxThreads: 2, callerStack: true })
    const controller = new AbortController()
    const calls = [pool.run('range'), pool.run({ call() {} }), pool.run('x', { name: 'fine', signal: controller.signal })]
    controller.abort()
    await Promise.allSettled(calls)
    await pool.close({ force: true })`,
  closeTimeout: `
    const words = new Int32Array(new SharedArrayBuffer(64))
    const pool = open({ filename: handler('tracked.js'), minThreads: 1, maxThreads: 1, closeTimeout: 5 })
    const calls = [0, 1].map(index => pool.run({ words, size: 4, index }).catch(() => {}))
    await pool.close()
    await Promise.all(calls)`,
  'one worker of two dead at load, then destroy()': `
    const pool = open({ filename: handler('dying.js'), minThreads: 2, maxThreads: 2 })
    await pool.destroy()`,
}

const roads = { lane: {}, port: { lane: false }, inline: { backend: 'inline' } }
/** What takes a worker that can be ended. */
const notInline = ['destroy() of endless loops', 'deaths, then close()', 'closeTimeout']

for (const [road, options] of Object.entries(roads)) {
  for (const [what, way] of Object.entries(ways)) {
    if (road === 'inline' && notInline.includes(what)) continue
    test(`nothing is left of pools that ended by ${what} (${road})`, {
      skip: !existsSync('/proc/self/task') && 'no /proc here',
    }, async () => {
      const { output, errors, exitCode } = await runProgram(`
        import { createHook } from 'node:async_hooks'
        import { readdirSync, readlinkSync } from 'node:fs'
        const kinds = new Set(['Timeout', 'Immediate', 'MESSAGEPORT', 'WORKER'])
        const alive = new Map()
        createHook({
          init(id, kind) { if (kinds.has(kind)) alive.set(id, kind) },
          destroy(id) { alive.delete(id) },
        }).enable()
        const open = given => new Pool({ filename: handler('echo.js'), closeOnSignals: true, ...${JSON.stringify(options)}, ...given })
        async function round() {
          ${way}
        }
        const settleDown = async () => {
          const turn = () => new Promise(resolve => setImmediate(resolve))
          for (let turns = 0; turns < 20; turns++) await turn()
          // Files that are being loaded inline are the program's, which ends with them.
          while (process.getActiveResourcesInfo().some(kind => /Req/.test(kind))) await turn()
        }
        // Node 20 leaves a file open whose thread ends while it is loaded.
        const isExcused = path => process.version.startsWith('v20.') && path.endsWith('.js')
        const pathOf = fd => { try { return readlinkSync('/proc/self/fd/' + fd) } catch { return '/proc/' } }
        const descriptors = () =>
          readdirSync('/proc/self/fd').map(pathOf).filter(path => !path.includes('/proc/') && !isExcused(path)).sort()
        const count = () => ({
          threads: readdirSync('/proc/self/task').length,
          descriptors: descriptors(),
          resources: process.getActiveResourcesInfo().sort(),
          alive: [...alive.values()].filter(kind => kind !== 'Immediate').sort(),
          listeners: process.eventNames().map(name => [String(name), process.listenerCount(name)]).sort(),
        })
        // The first round opens what stays, as the standard streams.
        await round()
        await settleDown()
        const before = count()
        for (let index = 0; index < ${rounds}; index++) await round()
        await settleDown()
        console.log(JSON.stringify({ before, after: count() }))
      `)
      assert.equal(exitCode, 0, errors)
      const { before, after } = JSON.parse(output)
      assert.deepEqual(after, before)
      assert.deepEqual(after.alive, [], 'not even after the first round')
    })
  }
}
