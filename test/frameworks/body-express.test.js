// The same bytes to Express' own parser and to ours: what the route gets, and what an error says, must be the same.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import express from 'express'
import { Pool } from 'lido'
import { json } from 'lido/express'
import { listen, send } from '../helpers/raw-http.js'
import { inputs } from './body-inputs.js'

const pool = new Pool({ minWorkers: 1, maxWorkers: 1 })
after(() => pool.close())

/** Each must do as `express.json(options)`. */
const ways = {
  'in the pool': options => json({ ...options, pool, threshold: 0 }),
  'below the threshold': options => json({ ...options, pool, threshold: Number.POSITIVE_INFINITY }),
  'below the threshold, by our own hand': options =>
    json({ ...options, pool, threshold: Number.POSITIVE_INFINITY, maxDepth: 1_000_000 }),
}

function text(value) {
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch (problem) {
    return problem.name
  }
}

/** An app that shows what its route gets, and of an error all that a program can see. */
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

/** To tell how two long texts differ takes minutes. */
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
  describe(`Express gets the same ${way}`, { concurrency: 4 }, () => {
    for (const { title, request, options } of inputs) {
      test(title, async t => {
        const expected = await answers(t, express.json(options), request)
        assert.deepEqual(await answers(t, make(options), request), expected)
      })
    }
  })
}

test('the pool parses large bodies, and the host parses small ones', async t => {
  const before = pool.completed
  const request = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
  const limits = { threshold: 7, pool }
  const port = await listen(t, createServer(plainApp(json(limits))))
  assert.equal((await send(port, request)).body, '{"a":1}')
  assert.equal(pool.completed, before + 1)
  assert.equal((await send(port, { ...request, body: '{"a":}' })).status, 400)
  assert.equal(pool.completed, before + 1)
})
