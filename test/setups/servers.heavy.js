// The servers of the guides for Hono, Koa and WebSockets. Their packages come from the npm registry.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { project } from '../package/installed.js'
import { codeBlocks, readPage, withServer } from '../package/page-programs.js'
import { npmFlags, output } from './project.js'

const packages = ['hono@4', '@hono/node-server@2', 'koa@3', '@koa/router@15', 'ws@8']
const expected = Array.from({ length: 365 }, (_, day) => Math.sqrt(2026 * day)).reduce(
  (sum, root) => sum + root,
)

before(async () => {
  await output(project, 'npm', ['install', ...packages, ...npmFlags], { limitMs: 240_000 })
})

/** The page, with changes of its programs. Each change must find its text. */
function changed(page, changes) {
  for (const [text, replacement] of Object.entries(changes)) {
    assert.ok(page.includes(text), text)
    page = page.replace(text, replacement)
  }
  return page
}

for (const [name, place] of [
  ['hono', 'app.onError'],
  ['koa', 'app.use(router'],
]) {
  // `withServer()` replaces the port of URLs and of `listen()`.
  const page = readPage(`docs/guides/${name}.md`).replace(
    'port: 3000',
    "port: new URL('http://localhost:3000').port",
  )
  /** Makes the task of the year 1 endless. */
  const endless = { 'let total = 0': 'let total = 0\n  while (year === 1);' }

  test(`the server of ${name}.md answers with a report, streams a result, and ends on SIGTERM`, async () => {
    const streaming = codeBlocks(page).find(code => code.includes("'/days/:year'"))
    await withServer(
      changed(page, { [place]: `${streaming}\n${place}` }),
      name,
      'server.mjs',
      async (address, server) => {
        const { year, total } = await (await fetch(`${address}/report/2026`)).json()
        assert.equal(year, 2026)
        assert.ok(Math.abs(total - expected) < 1, `${total}`)
        const days = await (await fetch(`${address}/days/2026`)).text()
        assert.equal(days.trimEnd().split('\n').at(-1), `${Math.sqrt(2026 * 364)}`)
        const ended = once(server, 'exit')
        server.kill('SIGTERM')
        assert.deepEqual(await ended, [0, null])
      },
    )
  })

  test(`the server of ${name}.md answers 503 when a task takes too long`, async () => {
    const slow = changed(page, { ...endless, 'timeout: 5_000': 'timeout: 100' })
    await withServer(slow, `${name}-slow`, 'server.mjs', async address => {
      const response = await fetch(`${address}/report/1`)
      assert.equal(response.status, 503)
      assert.equal(response.headers.get('retry-after'), '1')
    })
  })

  test(`the server of ${name}.md cancels the task of a client that left`, async () => {
    const oneWorker = { ...endless, 'timeout: 5_000': 'maxWorkers: 1' }
    await withServer(changed(page, oneWorker), `${name}-left`, 'server.mjs', async address => {
      const accepted = request(`${address}/report/1`, {
        agent: false,
        headers: { expect: '100-continue' },
      }).end()
      await once(accepted, 'continue')
      const failed = once(accepted, 'error')
      accepted.destroy(new Error('the client leaves'))
      await failed
      assert.equal((await fetch(`${address}/report/2026`)).status, 200)
    })
  })
}

const webSockets = readPage('docs/guides/websockets.md')

/** Connects a client to the server. */
async function connect(address) {
  const WebSocket = createRequire(join(project, 'package.json'))('ws')
  const socket = new WebSocket(address.replace('http', 'ws'))
  await once(socket, 'open')
  return socket
}

async function answerOf(socket, bytes) {
  socket.send(Uint8Array.from(bytes))
  const [data, isBinary] = await once(socket, 'message')
  return isBinary ? new Uint32Array(new Uint8Array(data).buffer) : JSON.parse(data)
}

test('the server of websockets.md answers in the order of the messages, and ends on SIGTERM', async () => {
  await withServer(webSockets, 'websockets', 'server.mjs', async (address, server) => {
    const socket = await connect(address)
    const answers = []
    const all = new Promise(resolve => {
      socket.on('message', data => {
        if (answers.push(new Uint32Array(new Uint8Array(data).buffer)) === 20) resolve()
      })
    })
    for (let size = 20; size > 0; size--) socket.send(new Uint8Array(size * 100_000).fill(7))
    await all
    assert.deepEqual(
      answers.map(counts => counts[7]),
      Array.from({ length: 20 }, (_, index) => (20 - index) * 100_000),
    )
    const closed = once(socket, 'close')
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    assert.equal((await closed)[0], 1001)
    assert.deepEqual(await ended, [0, null])
  })
})

test('the server of websockets.md cancels the task of a closed socket, and outlives a message that is too large', async () => {
  const page = changed(webSockets, {
    'const counts =': 'while (bytes[0] === 255);\n  const counts =',
    'timeout: 5_000': 'maxWorkers: 1',
  })
  await withServer(page, 'websockets-left', 'server.mjs', async address => {
    const left = await connect(address)
    left.send(Uint8Array.of(255))
    left.ping()
    // The answer to the ping shows that the server has read the message.
    await once(left, 'pong')
    left.terminate()
    const large = await connect(address)
    large.send(new Uint8Array(10_000_001))
    assert.equal((await once(large, 'close'))[0], 1009)
    const socket = await connect(address)
    assert.equal((await answerOf(socket, [1, 2, 2]))[2], 2)
    socket.terminate()
  })
})

test('the server of websockets.md sends the code of an error', async () => {
  const page = changed(webSockets, {
    'const counts =': 'while (bytes[0] === 255);\n  const counts =',
    'timeout: 5_000': 'timeout: 100',
  })
  await withServer(page, 'websockets-slow', 'server.mjs', async address => {
    const socket = await connect(address)
    assert.deepEqual(await answerOf(socket, [255]), { error: 'ERR_LIDO_TASK_TIMEOUT' })
    socket.terminate()
  })
})
