// Sends the same bytes to the parser of Express and to lido. The route must get the same value, and errors must be the same.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import express from 'express'
import { Pool } from 'lido'
import { json, runFor } from 'lido/express'
import { listen, open, requestBytes, send } from '../helpers/raw-http.js'
import { reached, sharedWords } from '../helpers/shared-words.js'
import { inputs } from './body-inputs.js'

const STARTED = 0

const pool = new Pool({ minWorkers: 1, maxWorkers: 1 })
after(() => pool.close())

/** Each must behave as `express.json(options)` does. */
const ways = {
  'in the pool': options => json({ ...options, pool, threshold: 0 }),
  'in the host': options => json({ ...options, pool, threshold: Number.POSITIVE_INFINITY }),
  'in the host, with maxDepth': options =>
    json({ ...options, pool, threshold: Number.POSITIVE_INFINITY, maxDepth: 1_000_000 }),
}

function text(value) {
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch (problem) {
    return problem.name
  }
}

/** An app that answers with the body of its route, or with all visible fields of an error. */
function showingApp(parser) {
  const app = express()
  app.use(parser)
  app.post('/', (request, response) => response.send(text(request.body)))
  app.use((error, _request, response, _next) => {
    response.status(error.status ?? 500).json({
      name: error.name,
      message: error.message,
      isSyntaxError: error instanceof SyntaxError,
      fields: Object.entries(error).sort(([one], [other]) => (one < other ? -1 : 1)),
    })
  })
  return app
}

/** An app that answers errors as Express does in production. */
function plainApp(parser) {
  const app = express()
  app.set('env', 'production')
  app.use(parser)
  app.post('/', (request, response) => response.send(text(request.body)))
  return app
}

/** Comparing two different long texts takes minutes. */
function shortened(text) {
  if (text.length < 2000) return text
  return `${text.slice(0, 200)}… ${createHash('sha256').update(text).digest('hex')}`
}

async function answers(t, parser, request) {
  const found = []
  for (const makeApp of [showingApp, plainApp]) {
    const port = await listen(t, createServer(makeApp(parser)))
    const { status, headers, body } = await send(port, request)
    found.push({ status, type: headers['content-type'], body: shortened(body) })
  }
  return found
}

for (const [way, make] of Object.entries(ways)) {
  describe(`json() of lido/express ${way}`, { concurrency: 4 }, () => {
    for (const { title, request, options } of inputs) {
      test(`json() handles ${title} as express.json() does (${way})`, async t => {
        const expected = await answers(t, express.json(options), request)
        assert.deepEqual(await answers(t, make(options), request), expected)
      })
    }
  })
}

test('the pool parses bodies at the threshold, and the host parses smaller bodies', async t => {
  const before = pool.completed
  const request = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
  const limits = { threshold: 7, pool }
  const port = await listen(t, createServer(plainApp(json(limits))))
  assert.equal((await send(port, request)).body, '{"a":1}')
  assert.equal(pool.completed, before + 1)
  assert.equal((await send(port, { ...request, body: '{"a":}' })).status, 400)
  assert.equal(pool.completed, before + 1)
})

test('a client that leaves a server without an error handler prints no stack', async t => {
  const printed = []
  const prints = new EventEmitter()
  t.mock.method(console, 'error', error => {
    printed.push(error.stack)
    prints.emit('print')
  })
  const words = sharedWords(4)
  const filename = new URL('./handlers/work.js', import.meta.url)
  const app = express().set('env', 'production')
  app.post('/task', request => runFor(request, pool, words, { filename, name: 'held' }))
  app.post('/body', json({ pool }))
  const port = await listen(t, createServer(app))
  const headers = { 'content-type': 'application/json', 'content-length': '9' }
  for (const path of ['/task', '/body']) {
    const socket = await open(port)
    const line = once(prints, 'print')
    socket.write(requestBytes({ path, headers, body: '[1' }))
    if (path === '/task') await reached(words, STARTED)
    else await send(port, { path: '/none' })
    socket.destroy()
    await line
  }
  assert.deepEqual(printed, ['Error: request aborted', 'BadRequestError: request aborted'])
})
