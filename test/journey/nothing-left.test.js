// The process has the same threads, file descriptors, handles, timers, ports and listeners before and after a pool. The
// pools end in different ways. Each backend is counted in its own process.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'

const rounds = 2

/** For each way to end a pool: the source that runs before the process is counted. `open()` creates a pool. */
const ways = {
  'close() after work': `
    const pool = open({ minWorkers: 2, maxWorkers: 3 })
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 20 }, (_, index) => pool.run(index, { signal })))
    await pool.close()`,
  'destroy() while it starts': `
    const pool = open({ minWorkers: 3, maxWorkers: 3 })
    const calls = [1, 2, 3].map(index => pool.run(index).catch(() => {}))
    await pool.destroy()
    await Promise.all(calls)`,
  'destroy() of endless loops': `
    const words = new Int32Array(new SharedArrayBuffer(64))
    const pool = open({ filename: handler('tracked.js'), name: 'endless', minWorkers: 2, maxWorkers: 2 })
    const calls = [0, 1, 2].map(index => pool.run({ words, size: 4, index }).catch(() => {}))
    while (Atomics.load(words, 0) < 2) await new Promise(resolve => setImmediate(resolve))
    await pool.destroy()
    await Promise.all(calls)`,
  'deaths, then close()': `
    const pool = open({ minWorkers: 2, maxWorkers: 2 })
    await pool.run(1)
    await Promise.all(pool.workers.map(worker => worker.terminate()))
    await Promise.all([1, 2, 3].map(index => pool.run(index)))
    await Promise.all(pool.threads.map(thread => thread.terminate()))
    await pool.close()`,
  'a file that does not load': `
    const pool = open({ filename: '/no/such/file.js', minWorkers: 2, maxWorkers: 2 })
    await Promise.all([1, 2].map(index => pool.run(index).catch(() => {})))
    await pool.close()`,
  'aborts, errors and payloads that cannot be cloned': `
    const pool = open({ filename: handler('throwing.js'), minWorkers: 1, maxWorkers: 2, callerStack: true })
    const controller = new AbortController()
    const calls = [pool.run('range'), pool.run({ call() {} }), pool.run('x', { name: 'fine', signal: controller.signal })]
    controller.abort()
    await Promise.allSettled(calls)
    await pool.close({ force: true })`,
  closeTimeout: `
    const words = new Int32Array(new SharedArrayBuffer(64))
    const pool = open({ filename: handler('tracked.js'), minWorkers: 1, maxWorkers: 1, closeTimeout: 5 })
    const calls = [0, 1].map(index => pool.run({ words, size: 4, index }).catch(() => {}))
    await pool.close()
    await Promise.all(calls)`,
  'one worker of two dead at load, then destroy()': `
    const pool = open({ filename: handler('dying.js'), minWorkers: 2, maxWorkers: 2 })
    await pool.destroy()`,
}

const backends = {
  'shared memory': {},
  messages: { transport: 'messages' },
  'the host thread': { backend: 'inline' },
}
/** These kill workers. An inline worker is the host thread and cannot be killed. */
const notInline = ['destroy() of endless loops', 'deaths, then close()', 'closeTimeout']

for (const [backend, options] of Object.entries(backends)) {
  const chosen = Object.entries(ways).filter(
    ([name]) => options.backend !== 'inline' || !notInline.includes(name),
  )
  test(`closed and destroyed pools leave no thread, descriptor, timer or listener behind (${backend})`, {
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
      const open = given => new Pool({ filename: handler('echo.js'), ...${JSON.stringify(options)}, ...given })
      const ways = {
        ${chosen.map(([name, source]) => `${JSON.stringify(name)}: async () => {${source}\n}`).join(',\n')}
      }
      const settleDown = async () => {
        const turn = () => new Promise(resolve => setImmediate(resolve))
        for (let turns = 0; turns < 20; turns++) await turn()
        // An inline worker loads files with the host's own import(). Wait until these loads have finished.
        while (process.getActiveResourcesInfo().some(kind => /Req/.test(kind))) await turn()
      }
      // Node 20 leaves a file open when its thread is killed while it loads the file.
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
      // The first round opens resources that stay open, such as the standard streams.
      for (const way of Object.values(ways)) await way()
      await settleDown()
      let before = count()
      const counts = []
      for (const [name, way] of Object.entries(ways)) {
        for (let round = 0; round < ${rounds}; round++) await way()
        await settleDown()
        const after = count()
        counts.push({ name, before, after })
        before = after
      }
      // The output comes last, because it opens descriptors.
      console.log(JSON.stringify(counts))
    `)
    assert.equal(exitCode, 0, errors)
    const counts = JSON.parse(output)
    assert.equal(counts.length, chosen.length)
    for (const { name, before, after } of counts) {
      assert.deepEqual(after, before, name)
      assert.deepEqual(after.alive, [], name)
    }
  })
}

test('a pool whose handler threw leaves no async resource that looks open', async () => {
  const hook = `
    import { createHook } from 'node:async_hooks'
    globalThis.open = new Map()
    const { open } = globalThis
    createHook({ init: (id, type) => open.set(id, type), destroy: id => open.delete(id) }).enable()
  `
  const { output, errors } = await runProgram(
    `
      import { setTimeout as pause } from 'node:timers/promises'
      const pool = new Pool({ filename: handler('failing.js'), maxWorkers: 1 })
      pool.on('error', () => {})
      await pool.run().catch(() => {})
      await pause(1)
      console.log(JSON.stringify([...globalThis.open.values()].filter(type => type.startsWith('lido'))))
    `,
    { nodeArguments: ['--import', `data:text/javascript,${encodeURIComponent(hook)}`] },
  )
  assert.equal(output, '[]\n', errors)
})
