// The same of the examples that are servers under load.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectTable, readRows } from './run-example.js'

test('server shows requests that wait and busy ones without the pool, by hand, with piscina and with the pool', async () => {
  const ways = ['without the pool', 'a worker for each', 'with piscina', 'with the pool']
  const rows = ['waits', 'busy'].flatMap(kind => ways.map(way => `${kind}, ${way}`))
  await expectTable('server', rows, '--concurrentTasksPerWorker', '4', '--idleTimeout', '100')
})

test('rendering shows few and many connections with and without the pool, and piscina when asked', async () => {
  const ways = ['without the pool', 'with the pool', 'with piscina']
  await expectTable('rendering', [...ways, ...ways], '--with-piscina')
})

test('body shows large bodies with each parser, and answers all of them', async () => {
  const output = await expectTable('body', [
    'express.json()',
    'lido, the whole value',
    'lido, what the route needs',
    'a worker for each body',
    'piscina, by hand',
  ])
  for (const row of readRows(output)) assert.equal(row.at(-1), '0', `failed: ${row}`)
})

test('fastify shows a route without a pool, with a worker for each request, with piscina and with the plugin', async () => {
  const ways = ['without a pool', 'a worker for each request', 'piscina', 'lido/fastify']
  expectHealth(await expectTable('fastify', ways))
})

test('nestjs shows the service alone, by hand, on a pool, on a cluster and on both, and each ends well', async () => {
  const ways = ['alone', 'a worker for each request', 'piscina', 'pool', 'cluster', 'cluster and pool']
  expectHealth(await expectTable('nestjs', ways))
})

/** Figures of /health and of the event loop stand beside those of the computation, and nothing failed. */
function expectHealth(output) {
  assert.match(output, /\/health latency ms +│ +event loop delay ms/)
  for (const row of readRows(output)) {
    const [p50, p99, longestDelay, failed] = row.slice(-4)
    for (const figure of [p50, p99, longestDelay]) assert.match(figure, /^[\d.,]+$/, `${row}`)
    assert.equal(failed, '0', `failed: ${row}`)
  }
}
