// Pools that the program no longer holds: they are stopped when they are collected, and not while they have work.
import assert from 'node:assert/strict'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'

/** `settle(create)` runs `create`, drops its pool and resolves to the number of its workers that have ended. */
const preamble = `
  import { setTimeout as pause } from 'node:timers/promises'
  const codes = []
  process.on('warning', ({ code, message }) => codes.push([code, message]))
  const filename = handler('forgotten.js')
  const alive = setInterval(() => {}, 1000)
  // In a function of its own, because a function that waits keeps its variables.
  async function ends(create) {
    const workers = await begin(create)
    while (workers.some(worker => worker.state !== 'exited')) {
      globalThis.gc()
      await pause(10)
    }
  }
  async function begin(create) {
    const pool = await create()
    return (pool.workers ?? pool)
  }
`
const run = source => runProgram(preamble + source, { nodeArguments: ['--expose-gc'] })

test('a pool that is collected stops, after its teardown, with one warning', async () => {
  const { exitCode, output, errors } = await run(`
    import { Piscina } from '${import.meta.resolve('lido/piscina')}'
    const optionsOf = { thread: {}, messages: { transport: 'messages' }, process: { backend: 'process' }, inline: { backend: 'inline' } }
    for (const options of Object.values(optionsOf)) {
      await ends(async () => {
        const pool = new Pool({ filename, minWorkers: 1, maxWorkers: 1, ...options })
        pool.on('error', () => pool.stats()).on('workerDestroy', () => {})
        await pool.run(1)
        await pool.api.double(2)
        await pool.map([1, 2])
        for await (const chunk of pool.stream(1, { name: 'chunks' })) break
        return pool
      })
    }
    await ends(async () => {
      const piscina = new Piscina({ filename: filename.href, minThreads: 1, maxThreads: 1 })
      await piscina.run(1)
      const threads = piscina.threads
      return [{ get state() { return threads[0].threadId === -1 ? 'exited' : 'ready' } }]
    })
    console.log(JSON.stringify(codes))
    clearInterval(alive)
  `)
  assert.equal(exitCode, 0, errors)
  const [teardowns, codes] = [output.match(/teardown/g).length, JSON.parse(output.trim().split('\n').at(-1))]
  assert.equal(teardowns, 5)
  assert.deepEqual(
    codes.map(([code]) => code),
    ['LIDO_FORGOTTEN_POOL'],
  )
  assert.match(codes[0][1], /It was created at \S*program\.mjs:\d+:\d+\./)
})

test('a pool that the program drops while it has work finishes the work', async () => {
  const { exitCode, output, errors } = await run(`
    const calls = {
      run: () => new Pool({ filename }).run(1, { name: 'slowly' }),
      map: () => new Pool({ filename, maxWorkers: 1 }).map([1, 2, 3], { name: 'slowly' }),
      queued: () => {
        const pool = new Pool({ filename, maxWorkers: 1 })
        return Promise.all([1, 2, 3].map(n => pool.run(n, { name: 'slowly' })))
      },
      ready: () => new Pool({ filename }).ready().then(() => 'ready'),
      api: () => new Pool({ filename }).api.slowly(1),
      stream: async () => {
        const seen = []
        for await (const chunk of new Pool({ filename }).stream(3, { name: 'chunks' })) {
          seen.push(chunk)
          globalThis.gc()
          await pause(100)
        }
        return seen
      },
    }
    const collect = setInterval(globalThis.gc, 5)
    for (const [name, begin] of Object.entries(calls)) console.log(name, JSON.stringify(await begin()))
    clearInterval(collect)
    clearInterval(alive)
  `)
  assert.equal(exitCode, 0, errors)
  assert.equal(
    output.replaceAll('teardown\n', ''),
    ['run 1', 'map [1,2,3]', 'queued [1,2,3]', 'ready "ready"', 'api 1', 'stream [0,1,2]', ''].join('\n'),
  )
})

test('many open pools from one place warn once, with the place', async () => {
  const { errors } = await run(`
    import { Piscina } from '${import.meta.resolve('lido/piscina')}'
    for (let n = 0; n < 30; n++) await new Pool({ filename, minWorkers: 0 }).close()
    const create = () => new Piscina({ filename: filename.href, minThreads: 0 }) // here
    globalThis.pools = Array.from({ length: 30 }, create)
    clearInterval(alive)
  `)
  assert.equal(errors.match(/LIDO_MANY_POOLS/g).length, 1)
  assert.match(errors, /11 pools are open that were created at \S*program\.mjs:\d+:\d+\. Each has/)
})

test('a shared value holds no pool that could not start', async () => {
  const { exitCode, output, errors } = await run(`
    import { FifoQueue } from '${import.meta.resolve('lido')}'
    const owner = new Pool({ filename, minWorkers: 0 })
    const [kept, released] = [owner.share([1]), owner.share([2])]
    released.release()
    function refuse(workerData) {
      const queue = new FifoQueue()
      try {
        new Pool({ filename, queue, workerData })
      } catch ({ code }) {
        console.log(code)
      }
      return new WeakRef(queue)
    }
    const queues = [refuse({ kept, f() {} }), refuse({ kept, released })]
    while (queues.some(queue => queue.deref() !== undefined)) {
      await pause(10)
      globalThis.gc()
    }
    kept.release()
    clearInterval(alive)
    await owner.close()
    console.log('collected')
  `)
  assert.equal(exitCode, 0, errors)
  assert.deepEqual(output.trim().split('\n'), [
    'ERR_LIDO_INVALID_OPTION',
    'ERR_LIDO_INVALID_OPTION',
    'collected',
  ])
})
