// The examples that run a server under load exit with code 0 and print their tables.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectTable, readRows } from './run-example.js'

test('the server example shows waiting and busy requests, each handled in four ways', async () => {
  const ways = ['without the pool', 'a worker for each', 'with piscina', 'with the pool']
  const rows = ['waits', 'busy'].flatMap(kind => ways.map(way => `${kind}, ${way}`))
  await expectTable('server', rows, '--concurrentTasksPerWorker', '4', '--idleTimeout', '100')
})

test('the rendering example shows both loads without the pool, with the pool and with piscina', async () => {
  const ways = ['without the pool', 'with the pool', 'with piscina']
  await expectTable('rendering', [...ways, ...ways], '--with-piscina')
})

test('the body example shows large bodies with each parser and answers every request', async () => {
  const output = await expectTable('body', [
    'express.json()',
    'lido, the whole value',
    'lido, what the route needs',
    'a worker for each body',
    'piscina, by hand',
  ])
  for (const row of readRows(output)) assert.equal(row.at(-1), '0', `failed: ${row}`)
})

test('the fastify example shows a route in four variants without a failed request', async () => {
  const ways = ['without a pool', 'a worker for each request', 'piscina', 'lido/fastify']
  expectHealth(await expectTable('fastify', ways))
})

test('the nestjs example shows the service in six variants without a failed request', async () => {
  const ways = ['alone', 'a worker for each request', 'piscina', 'pool', 'cluster', 'cluster and pool']
  expectHealth(await expectTable('nestjs', ways))
})

/** The table has columns for /health and for the event loop delay, and no request failed. */
function expectHealth(output) {
  assert.match(output, /\/health latency ms +│ +event loop delay ms/)
  for (const row of readRows(output)) {
    const [p50, p99, longestDelay, failed] = row.slice(-4)
    for (const figure of [p50, p99, longestDelay]) assert.match(figure, /^[\d.,]+$/, `${row}`)
    assert.equal(failed, '0', `failed: ${row}`)
  }
}
