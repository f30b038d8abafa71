// How a worker ends: a planned stop first finishes the work that handlers have started, and a worker that must be killed is
// first asked to exit.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { backends } from '../helpers/backends.js'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { untilItWorks } from '../helpers/retry.js'

const filename = handler('worker-ends.js')
const { 'the host thread': _, ...ownedBackends } = backends

/** Answers late. Never answers `/never`. Accepts WebSockets. */
async function openServer(t) {
  const server = createServer((request, response) => {
    if (request.url === '/never') return server.emit('never')
    request.resume().on('end', () => setTimeout(() => response.end('x'), 100))
  })
  server.on('upgrade', (request, socket) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const accept = createHash('sha1').update(key).digest('base64')
    socket.on('error', () => {})
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${server.address().port}` }
}

function openFile(t) {
  const file = join(openFolder(t).path, 'lines')
  return {
    file,
    lines: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).sort() : []),
  }
}

const hasExited = worker => untilItWorks(() => assert.equal(worker.state, 'exited'))

const plannedStops = {
  'close()': [{}, pool => pool.close()],
  'recycle()': [{}, pool => pool.recycle()],
  'reload()': [{}, pool => pool.reload()],
  'resize()': [{ minWorkers: 2 }, pool => pool.resize({ minWorkers: 0, maxWorkers: 1 })],
  idleTimeout: [{ minWorkers: 0, idleTimeout: 1 }, () => {}],
  maxTasksPerWorker: [{ maxTasksPerWorker: 1 }, () => {}],
  maxWorkerAge: [{ maxWorkerAge: 1 }, () => {}],
  maxWorkerMemoryMb: [{ maxWorkerMemoryMb: 4 }, () => {}],
}
for (const [title, options] of Object.entries(ownedBackends)) {
  test(`each planned stop finishes the work that handlers have started, on ${title}`, async (open, t) => {
    const { url } = await openServer(t)
    // One after the other, because a stop waits a limited time and many processes at once make a machine slow.
    for (const [what, [stopOptions, stop]] of Object.entries(plannedStops)) {
      const { file, lines } = openFile(t)
      const pool = open({ ...options, filename, minWorkers: 1, maxWorkers: 2, ...stopOptions })
      const workers = new Map()
      const note = worker => workers.set(`${worker.pid} ${worker.threadId}`, worker)
      pool.workers.forEach(note)
      pool.on('workerCreate', note)
      const stopped = once(pool, 'workerDestroy')
      const isResize = what === 'resize()'
      const [id] = isResize ? await pool.broadcast({ file, url }) : [await pool.run({ file, url })]
      await stop(pool)
      const [first] = await stopped
      await hasExited(isResize ? first : (workers.get(id) ?? first))
      const all = ['body', 'fetch', 'http', 'stream', 'writes']
      assert.deepEqual([...new Set(lines())], all, what)
      assert.equal(first.stopReason, what.replace('()', ''))
      assert.ok(pool.stats().endedWorkers.some(({ reason }) => reason === first.stopReason))
      await pool.close()
    }
  })

  test(`a worker that must end is first asked to exit, on ${title}`, async (open, t) => {
    const endings = {
      'a cancelled task': ['cancel', { cancelGrace: 0 }, (_, abort) => abort.abort()],
      'a time limit': ['cancel', { cancelGrace: 0, timeout: 500 }, () => {}],
      'destroy()': ['destroy', {}, pool => pool.destroy()],
      closeTimeout: ['closeTimeout', { closeTimeout: 50 }, pool => pool.close()],
      'terminate()': ['terminate', {}, pool => pool.workers[0].terminate()],
    }
    await Promise.all(
      Object.entries(endings).map(async ([what, [reason, endOptions, end]]) => {
        const { file, lines } = openFile(t)
        const pool = open({ ...options, filename, name: 'waitForever', maxWorkers: 1, ...endOptions })
        await pool.ready()
        const [worker] = pool.workers
        let rejected
        const abort = new AbortController()
        const { signal } = abort
        await new Promise((resolve, reject) => {
          rejected = assert.rejects(pool.run({ file }, { signal, onProgress: resolve }))
          rejected.catch(reject)
        })
        await end(pool, abort)
        await rejected
        await hasExited(worker)
        assert.deepEqual(lines(), ['exit'], what)
        assert.equal(worker.stopReason, reason)
      }),
    )
  })
}

test('a worker that is replaced tells its memory, and one that ended by itself its death', async open => {
  for (const options of Object.values(ownedBackends)) {
    const pool = open({ filename, name: 'die', maxWorkers: 1, maxWorkerMemoryMb: 4, ...options })
    const recycled = once(pool, 'workerDestroy')
    await pool.run({ isDeath: false })
    const [{ stopReason, memoryMb }] = await recycled
    assert.equal(stopReason, 'maxWorkerMemoryMb')
    assert.ok(memoryMb > 4 && memoryMb < 4096, `${memoryMb} MiB`)
    await pool.run({ isDeath: true }).catch(() => {})
    const [recycledStats, deaths] = pool.stats().endedWorkers
    assert.deepEqual(recycledStats, { reason: 'maxWorkerMemoryMb', count: 1, memoryMb })
    assert.equal(deaths.reason, 'death')
    assert.ok(pool.stats().workers.every(worker => 'memoryMb' in worker))
  }
})

test('a stop does not wait for open connections and timers', async (open, t) => {
  const { url } = await openServer(t)
  const warnings = listenForWarnings(t)
  for (const options of Object.values(ownedBackends)) {
    const pool = open({ filename, name: 'leaveOpen', maxWorkers: 1, ...options })
    await pool.run({ url })
    await pool.close()
  }
  assert.deepEqual(warnings, [])
})

test('a stop waits for a limited time, and warns once of requests that are cut off', async (open, t) => {
  const { url } = await openServer(t)
  const warnings = listenForWarnings(t)
  const pools = Object.values(ownedBackends).map(options =>
    open({ filename, name: 'askInVain', minWorkers: 2, maxWorkers: 2, ...options }),
  )
  await Promise.all(
    pools.map(async pool => {
      await pool.broadcast({ url })
      await pool.close()
    }),
  )
  await new Promise(setImmediate)
  assert.equal(warnings.length, pools.length)
  for (const { message } of warnings)
    assert.match(message, new RegExp(`^Worker [12] stopped before .*: GET ${url}\\. Await`))
})

function listenForWarnings(t) {
  const warnings = []
  const listener = warning => {
    if (warning.code === 'LIDO_UNFINISHED_WORK') warnings.push(warning)
  }
  process.on('warning', listener)
  t.after(() => process.off('warning', listener))
  return warnings
}
