// The same of the examples that are servers under load.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectTable, readRows } from './run-example.js'

test('server shows requests that wait and busy ones with and without the pool', async () => {
  await expectTable(
    'server',
    ['waits, without the pool', 'waits, with the pool', 'busy, without the pool', 'busy, with the pool'],
    '--concurrentTasksPerWorker',
    '4',
    '--idleTimeout',
    '100',
  )
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
  await expectTable('fastify', ['without a pool', 'a worker for each request', 'piscina', 'lido/fastify'])
})

test('nestjs shows the service alone, on a cluster, on a pool and on both, and each ends well', async () => {
  await expectTable('nestjs', ['alone', 'cluster', 'pool', 'cluster and pool'])
})
