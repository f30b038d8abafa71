// Sends the same bytes to the parser of Fastify and to lido. The route must get the same value, and errors must be the same.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import Fastify from 'fastify'
import { Pool } from 'lido'
import { fastifyJson, fastifyNdjson } from 'lido/body'
import { send } from '../helpers/raw-http.js'
import { inputs } from './body-inputs.js'

const pool = new Pool({ minWorkers: 1, maxWorkers: 1 })
after(() => pool.close())

const module = new URL('./body-functions.js', import.meta.url)
const json = { 'content-type': 'application/json' }
const poisoned = [
  '{"a":{"__proto__":{"b":1}}}',
  '{"a":[{"\\u005f_proto\\u005F_" : 1}]}',
  '{"constructor":{"prototype":{"b":1}}}',
  '{"constructor":{"\\u0070rototype":1},"x":{"constructor":{"prototype":0}}}',
  '{"constructor":"none","text":"\\"__proto__\\":"}',
  '["__proto__", "constructor"]',
]

/** Each must behave as Fastify does without the plugin. */
const ways = {
  'in the pool': { pool, threshold: 0 },
  'in the host': { pool, threshold: Number.POSITIVE_INFINITY },
  'in the host, with maxDepth': { pool, threshold: Number.POSITIVE_INFINITY, maxDepth: 1_000_000 },
}

async function start(t, options, plugin, tell = null) {
  const app = Fastify({ forceCloseConnections: true, ...options })
  if (plugin !== null) await app.register(plugin)
  app.post('/', { bodyLimit: options.routeLimit }, async request => ({ body: text(request.body) }))
  if (tell !== null) {
    app.setErrorHandler((error, _request, reply) => {
      const fields = Object.entries(error).sort(([one], [other]) => (one < other ? -1 : 1))
      reply.code(error.statusCode ?? 500).send({ name: error.name, message: error.message, fields })
    })
  }
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  return app.server.address().port
}

function text(value) {
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch (problem) {
    return problem.name
  }
}

async function answers(t, options, plugin, request) {
  const found = []
  for (const tell of [null, true]) {
    const port = await start(t, options, plugin, tell)
    const { status, headers, body } = await send(port, request)
    found.push({ status, type: headers['content-type'], body: body.slice(0, 2000) })
  }
  return found
}

for (const [way, options] of Object.entries(ways)) {
  describe(`fastifyJson() ${way}`, { concurrency: 4 }, () => {
    for (const { title, request, options: asked } of inputs) {
      const limits = typeof asked.limit === 'number' ? { routeLimit: asked.limit } : {}
      test(`fastifyJson() handles ${title} as Fastify does (${way})`, async t => {
        const expected = await answers(t, limits, null, request)
        assert.deepEqual(await answers(t, limits, fastifyJson(options), request), expected)
      })
    }

    for (const onProtoPoisoning of ['error', 'remove', 'ignore']) {
      for (const onConstructorPoisoning of ['error', 'remove', 'ignore']) {
        const rules = { onProtoPoisoning, onConstructorPoisoning }
        test(`fastifyJson() treats poisoned keys as Fastify does (${Object.values(rules)}, ${way})`, async t => {
          const own = await start(t, rules, null)
          const ours = await start(t, rules, fastifyJson(options))
          const asked = await start(t, {}, fastifyJson({ ...options, ...rules }))
          for (const body of poisoned) {
            const request = { headers: json, body }
            const { status, body: expected } = await send(own, request)
            for (const port of [ours, asked]) {
              const answer = await send(port, request)
              assert.deepEqual([answer.status, answer.body], [status, expected], body)
            }
          }
        })
      }
    }
  })
}

test('a body over the bodyLimit of fastifyJson() is answered with 413', async t => {
  const port = await start(t, {}, fastifyJson({ bodyLimit: 10, pool }))
  const { status, body } = await send(port, { headers: json, body: '[1,2,3,4,5,6]' })
  assert.equal(status, 413)
  assert.equal(JSON.parse(body).code, 'FST_ERR_CTP_BODY_TOO_LARGE')
})

test('fastifyNdjson() parses lines into an array, and its errors name the line', async t => {
  const port = await start(t, {}, fastifyNdjson({ pool, threshold: 20, maxLines: 3 }))
  const headers = { 'content-type': 'application/x-ndjson' }
  for (const length of [1, 30]) {
    const wide = ' '.repeat(length)
    const good = await send(port, { headers, body: `1\r\n\n${wide}{"a":2}\n[3]` })
    assert.deepEqual([good.status, good.body], [200, JSON.stringify({ body: '[1,{"a":2},[3]]' })])
    const bad = await send(port, { headers, body: `1\n${wide}\n{"a":}\n` })
    assert.equal(bad.status, 400)
    const told = JSON.parse(bad.body)
    const own = JSON.parse((await send(await start(t, {}, null), { headers: json, body: '{' })).body)
    assert.deepEqual([told.code, told.message.slice(0, 8)], [own.code, 'Line 3: '])
    const poisonedLine = await send(port, { headers, body: `{"a":1}\n${wide}\n{"__proto__":2}\n` })
    assert.equal(poisonedLine.status, 400)
    assert.equal(
      JSON.parse(poisonedLine.body).message,
      'Line 3: Object contains forbidden prototype property',
    )
    const many = await send(port, { headers, body: `1\n2${wide}\n3\n4` })
    assert.equal(many.status, 413)
  }
})

test("a body that the validate function refuses gets the answer of Fastify's own validation", async t => {
  for (const threshold of [0, Number.POSITIVE_INFINITY]) {
    const plugin = fastifyJson({ pool, threshold, module, validate: 'compiled', select: 'total' })
    const port = await start(t, {}, plugin)
    const good = await send(port, { headers: json, body: '{"items":[1,2,3]}' })
    assert.deepEqual([good.status, good.body], [200, '{"body":"6"}'])
    const bad = await send(port, { headers: json, body: '{"items":[1,"2"]}' })
    assert.equal(bad.status, 400)
    const expected = {
      statusCode: 400,
      code: 'FST_ERR_VALIDATION',
      error: 'Bad Request',
      message: 'body/items/1 must be number',
    }
    assert.deepEqual(JSON.parse(bad.body), expected)
  }
})

test('the answer holds the message, status and code of the error that a reviver throws', async t => {
  for (const threshold of [0, Number.POSITIVE_INFINITY]) {
    const imported = { module: () => import('./body-functions.js'), base: import.meta.url }
    const port = await start(t, {}, fastifyJson({ pool, threshold, ...imported, reviver: 'lucky' }))
    const { status, body } = await send(port, { headers: json, body: '{"a":13}' })
    assert.deepEqual([status, JSON.parse(body).message], [400, '13 is not lucky'])
    const blamed = await send(port, { headers: json, body: '{"a":14}' })
    assert.deepEqual([blamed.status, JSON.parse(blamed.body).code], [422, 'E_FOURTEEN'])
  }
})

test('fastifyJson() parses the body of app.inject()', async t => {
  const app = Fastify()
  await app.register(fastifyJson({ pool, threshold: 0 }))
  app.post('/', async request => request.body)
  t.after(() => app.close())
  const answer = await app.inject({ method: 'POST', url: '/', payload: { a: [1] } })
  assert.deepEqual(answer.json(), { a: [1] })
})

test('app.register() accepts fastifyJson and fastifyNdjson with their options as second argument', async t => {
  const app = Fastify()
  t.after(() => app.close())
  await app.register(fastifyJson, { pool, threshold: 0, module, select: 'total' })
  await app.register(fastifyNdjson, { pool, maxLines: 1 })
  app.post('/', async request => ({ body: request.body }))
  const ask = async (payload, type) =>
    await app.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': type } })
  assert.equal((await ask('{"items":[1,2]}', 'application/json')).body, '{"body":3}')
  assert.equal((await ask('1\n2', 'application/x-ndjson')).statusCode, 413)
})

test('app.register() rejects a second parser for the same content type', async t => {
  const app = Fastify()
  t.after(() => app.close())
  const register = async () => {
    await app.register(fastifyJson({ pool }))
    await app.register(fastifyJson({ pool, maxDepth: 1 }))
  }
  await assert.rejects(register(), { code: 'FST_ERR_CTP_ALREADY_PRESENT' })
})
