// Keeps what the examples' question for /health promises: what was not answered well counts as failed and is no latency.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { askHealth } from '../../examples/shared/health.js'

const answers = {
  'with another status': (_request, response) => response.writeHead(503).end(),
  'by a closed connection': request => request.socket.destroy(),
  'in half': (_request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half')
    response.socket.end()
  },
}

async function ask(t, listener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return await askHealth(`http://127.0.0.1:${server.address().port}/health`, 0)
}

for (const [way, listener] of Object.entries(answers)) {
  test(`an answer ${way} has failed, and has no latency`, async t => {
    const { failures, latencyMs } = await ask(t, listener)
    assert.equal(failures, 1)
    assert.ok(Number.isNaN(latencyMs.max))
  })
}

test('an answer is a latency, and the address is asked once at least', async t => {
  const { failures, latencyMs } = await ask(t, (_request, response) => response.end('{}'))
  assert.equal(failures, 0)
  assert.ok(latencyMs.max > 0)
})
