// The store of a request crosses to its handlers, as programs with Fastify and NestJS use it, also in their log lines.
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe } from 'node:test'
import { fastifyRequestContext } from '@fastify/request-context'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { getPoolToken } from 'lido/nestjs'
import { logWorkers } from 'lido/pino'
import { pino } from 'pino'
import { backends } from '../helpers/backends.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { sharedWords } from '../helpers/shared-words.js'
import { openApp } from './fastify-app.js'
import { storage } from './handlers/carried-fastify.js'

const REQUESTS = 1000
const ids = Array.from({ length: REQUESTS }, (_, index) => `request-${index}`)
const filename = new URL('./handlers/carried-fastify.js', import.meta.url)
const severalTasks = { minWorkers: 2, maxWorkers: 2, concurrentTasksPerWorker: 4 }

/** A logger of the host, and the lines that it has written. */
function collectingLogger() {
  const lines = []
  const write = (chunk, _encoding, done) => {
    lines.push(JSON.parse(chunk))
    done()
  }
  return { lines, logger: pino({ base: null }, new Writable({ write })) }
}

/** A pool of one worker, whose log lines go nowhere. */
function openQuiet(open, options) {
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, ...options })
  logWorkers(pool, pino({ level: 'silent' }))
  return pool
}

async function collect(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

/** Sends all requests at once. Checks that each handler and each line has the id of its own request. @param store its name */
async function checkRequests(pool, store, send) {
  const { lines, logger } = collectingLogger()
  logWorkers(pool, logger)
  const answers = await Promise.all(ids.map(send))
  assert.deepEqual(
    answers,
    ids.map(id => [id, id]),
  )
  assert.equal(lines.length, 2 * REQUESTS)
  const wrong = lines.filter(
    ({ expected, handler, [store]: value }) => value?.id !== expected || handler !== 'read',
  )
  assert.deepEqual(wrong, [])
  assert.deepEqual(new Set(lines.map(({ expected }) => expected)), new Set(ids))
  assert.equal(new Set(lines.map(({ task }) => task)).size, REQUESTS)
}

describe('1,000 parallel requests', () => {
  for (const backend of ['thread', 'process']) {
    test(`requests of Fastify with @fastify/request-context have their ids in handlers and in log lines (backend: ${backend})`, async (_open, t) => {
      const genReqId = ({ headers }) => headers['x-request-id']
      const routes = scope => {
        scope.register(fastifyRequestContext, { defaultStoreValues: request => ({ request }) })
        scope.get('/:expected', ({ params }) => app.pool.run(params.expected))
      }
      const app = await openApp(t, { filename, name: 'read', backend, ...severalTasks }, routes, { genReqId })
      const send = async id => (await app.inject({ url: `/${id}`, headers: { 'x-request-id': id } })).json()
      await checkRequests(app.pool, 'request', send)
    })

    test(`requests of NestJS with nestjs-cls have their ids in handlers and in log lines (backend: ${backend})`, async (_open, t) => {
      const { openNestWithCls } = await import('./nestjs-cls-app.js')
      const file = new URL('./handlers/carried-nestjs.js', import.meta.url)
      const app = await openNestWithCls(
        t,
        { filename: file, name: 'read', backend, ...severalTasks },
        new FastifyAdapter(),
      )
      const server = app.getHttpAdapter().getInstance()
      await server.ready()
      const send = async id =>
        (await server.inject({ url: `/read/${id}`, headers: { 'x-request-id': id } })).json()
      await checkRequests(app.get(getPoolToken(), { strict: false }), 'cls', send)
    })
  }
})

for (const [title, options] of Object.entries(backends)) {
  describe(`a carried store in handlers (${title})`, () => {
    const inRequest = (id, work) => storage.run({ request: { id, socket: () => {} } }, work)
    const both = work => Promise.all(['a', 'b'].map(id => inRequest(id, work)))

    test('is there at the start of a handler, after an await and in a callback', async open => {
      const pool = openQuiet(open, options)
      assert.deepEqual(await both(() => pool.run(null, { name: 'readAtOnce' })), ['a', 'b'])
      assert.deepEqual(await both(() => pool.run(null, { name: 'read' })), [
        ['a', 'a'],
        ['b', 'b'],
      ])
      assert.deepEqual(await both(() => pool.run(null, { name: 'later' })), ['a', 'b'])
      assert.equal(await pool.run(null, { name: 'readAtOnce' }), undefined)
    })

    test('is there in calls by api, map, broadcast and stream', async open => {
      const pool = openQuiet(open, options)
      await pool.ready()
      assert.deepEqual(await both(() => pool.api.read('x')), [
        ['a', 'a'],
        ['b', 'b'],
      ])
      assert.deepEqual(await both(() => pool.map([1, 2], { name: 'readAtOnce' }).toArray()), [
        ['a', 'a'],
        ['b', 'b'],
      ])
      assert.deepEqual(await both(() => pool.broadcast(null, { name: 'readAtOnce' })), [['a'], ['b']])
      assert.deepEqual(await both(() => collect(pool.stream(null, { name: 'chunks' }))), [
        ['a', 'a'],
        ['b', 'b'],
      ])
      assert.deepEqual(await both(async () => collect(await pool.api.chunks())), [
        ['a', 'a'],
        ['b', 'b'],
      ])
    })

    test('is there in a transform', async open => {
      const pool = openQuiet(open, options)
      const seen = await both(() =>
        collect(new Blob(['x']).stream().pipeThrough(pool.transform({ name: 'pairs' }))),
      )
      assert.deepEqual(
        seen.map(chunks => chunks.map(([, id]) => id)),
        [['a'], ['b']],
      )
    })

    test('is there before and after a call of a function of the caller, which sees the own store', async open => {
      const pool = openQuiet(open, options)
      const functions = { tellId: () => storage.getStore().request.id }
      assert.deepEqual(await both(() => pool.run(null, { name: 'callBack', functions })), [
        ['a', 'a'],
        ['b', 'b'],
      ])
    })

    test('is carried on, as it arrived, when the handler calls a pool itself', async open => {
      const pool = openQuiet(open, options)
      assert.deepEqual(await both(() => pool.run(null, { name: 'nest' })), [
        ['a', 'a'],
        ['b', 'b'],
      ])
    })

    if (options.backend === undefined) {
      test('is there when the task runs again because its worker ended', async open => {
        const pool = openQuiet(open, options)
        const run = () => pool.run(sharedWords(1), { name: 'dieOnce', retry: { attempts: 2 } })
        assert.deepEqual(await both(run), ['a', 'b'])
      })
    }

    test('is refused with its name when it cannot be copied', async open => {
      const pool = openQuiet(open, options)
      const error = await rejection(
        inRequest(
          () => {},
          () => pool.run(null, { name: 'readAtOnce' }),
        ),
      )
      assert.equal(error.code, 'ERR_LIDO_NOT_CLONEABLE')
      assert.match(error.message, /request/)
      assert.equal(await inRequest('c', () => pool.run(null, { name: 'readAtOnce' })), 'c')
    })
  })
}
