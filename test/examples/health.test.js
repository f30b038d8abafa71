// `askHealth()` of the examples: an answer that is not a complete 200 counts as a failure and has no latency.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { askHealth } from '../../examples/shared/health.js'

const answers = {
  'status 503': (_request, response) => response.writeHead(503).end(),
  'a closed connection': request => request.socket.destroy(),
  'half a body': (_request, response) => {
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
  test(`askHealth() counts ${way} as a failure without a latency`, async t => {
    const { failures, latencyMs } = await ask(t, listener)
    assert.equal(failures, 1)
    assert.ok(Number.isNaN(latencyMs.max))
  })
}

test('askHealth() sends at least one request and measures its latency', async t => {
  const { failures, latencyMs } = await ask(t, (_request, response) => response.end('{}'))
  assert.equal(failures, 0)
  assert.ok(latencyMs.max > 0)
})
