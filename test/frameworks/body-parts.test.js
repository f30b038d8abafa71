// The features that go beyond the parser of the framework: functions of a module, line-delimited JSON and depth limits. Also
// options that are refused at once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, IncomingMessage } from 'node:http'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { Pool } from 'lido'
import { fastifyJson, jsonReader, ndjsonReader, runFor } from 'lido/body'
import { json, ndjson } from 'lido/express'
import { alive } from '../helpers/alive.js'
import { handler } from '../helpers/handler.js'
import { runProgram } from '../helpers/program.js'
import { listen, open, requestBytes, send } from '../helpers/raw-http.js'
import { rejection } from '../helpers/rejection.js'
import { reached, sharedWords } from '../helpers/shared-words.js'
import { until } from './client.js'

const pool = new Pool({ minWorkers: 1, maxWorkers: 1 })
after(() => pool.close())

const module = new URL('./body-functions.js', import.meta.url)
const headers = { 'content-type': 'application/json' }
const linesHeaders = { 'content-type': 'application/x-ndjson' }

function _depth(value) {
  let levels = 0
  for (; Array.isArray(value) || value instanceof Map; value = [...value.values()][0]) levels++
  return levels
}

/** Starts an app that answers with the body, or with fields of an error. */
async function serve(t, parser) {
  const app = express()
  app.use(parser)
  app.post('/', (request, response) => response.json({ body: request.body }))
  app.use((error, _request, response, _next) => {
    const { status = 500, type, message, issues, line, limit } = error
    response.status(status).json({ type, message, issues, line, limit })
  })
  const port = await listen(t, createServer(app))
  return async (body, all = headers) => {
    const answer = await send(port, { headers: all, body })
    return { status: answer.status, ...JSON.parse(answer.body) }
  }
}

for (const [place, threshold] of [
  ['in the pool', 0],
  ['in the host', Number.POSITIVE_INFINITY],
]) {
  describe(`functions and limits ${place}`, () => {
    test(`the result of select is the body (${place})`, async t => {
      const ask = await serve(t, json({ pool, threshold, module, select: 'total' }))
      assert.deepEqual(await ask('{"items":[1,2]}'), { status: 200, body: 3 })
    })

    test(`a body that validate refuses is answered with 422 and the reasons (${place})`, async t => {
      const ask = await serve(t, json({ pool, threshold, module, validate: 'reasons', select: 'total' }))
      assert.deepEqual(await ask('{"items":[1,2]}'), { status: 200, body: 3 })
      const { status, type, issues } = await ask('{"items":1}')
      assert.deepEqual([status, type, issues], [422, 'entity.invalid', ['items must be an array']])
    })

    test(`the errors property of a validate function that returns false becomes the issues (${place})`, async t => {
      const ask = await serve(t, json({ pool, threshold, module, validate: 'compiled' }))
      const { status, issues } = await ask('{"items":["1"]}')
      assert.deepEqual([status, issues[0].instancePath], [422, '/items/0'])
    })

    test(`a Standard Schema validates the body and transforms it (${place})`, async t => {
      const ask = await serve(t, json({ pool, threshold, module, validate: 'schema' }))
      assert.deepEqual(await ask('{"a":2}'), { status: 200, body: { doubled: 4 } })
      assert.deepEqual((await ask('{"a":"2"}')).issues, [{ message: 'a must be a number', path: ['a'] }])
    })

    test(`the issues of a schema arrive as plain data without functions (${place})`, async t => {
      const found = []
      const refusing = parser => [
        parser,
        (problem, _request, response, _next) => {
          found.push(problem.issues)
          response.sendStatus(problem.status)
        },
      ]
      const issues = {
        checking: [{ kind: 'validation', message: 'too many', path: [{ key: 'items' }] }],
        classy: [{ code: 'domain', nodeConfig: {}, message: 'items must be a list', path: ['items'] }],
      }
      for (const validate of Object.keys(issues)) {
        const app = express().use(refusing(json({ pool, threshold, module, validate })))
        const port = await listen(t, createServer(app))
        assert.equal((await send(port, { headers, body: '{"items":[]}' })).status, 422)
      }
      assert.deepEqual(found, Object.values(issues))
    })

    test(`an error that select throws is answered with its status and message (${place})`, async t => {
      for (const select of ['throwing', 'conflicting']) {
        const ask = await serve(t, json({ pool, threshold, module, select }))
        const { status, message } = await ask('{}')
        assert.deepEqual([status, message], [409, 'too many'])
      }
    })

    test(`a missing select function is answered with 500 and its name (${place})`, async t => {
      const ask = await serve(t, json({ pool, threshold, module, select: 'totals' }))
      const { status, message } = await ask('{}')
      assert.equal(status, 500)
      assert.match(message, /No function named 'totals' is exported from file:.*body-functions\.js/)
    })

    test(`a reviver transforms the parsed body (${place})`, async t => {
      const read = jsonReader({ pool, threshold, module, reviver: 'dates' })
      let body
      const server = createServer(async (request, response) => {
        body = await read(request)
        response.end()
      })
      const port = await listen(t, server)
      await send(port, { headers, body: '{"at":"2026-11-21T00:00:00Z"}' })
      assert.deepEqual(body, { at: new Date('2026-11-21T00:00:00Z') })
    })

    test(`an error that a reviver throws is answered with 400 or with its own status (${place})`, async t => {
      for (const [reader, type, lines] of [
        [json, 'application/json', ''],
        [ndjson, 'application/x-ndjson', '1\n'],
      ]) {
        const ask = await serve(t, reader({ pool, threshold, module, reviver: 'lucky' }))
        const refused = await ask(`${lines}{"a":13}`, { 'content-type': type })
        assert.deepEqual(refused, { status: 400, type: 'entity.parse.failed', message: '13 is not lucky' })
        const blamed = await ask(`${lines}{"a":14}`, { 'content-type': type })
        assert.deepEqual(blamed, { status: 422, message: 'nor is 14' })
      }
    })

    test(`a body at maxDepth is accepted, and a deeper body is refused (${place})`, async t => {
      const ask = await serve(t, json({ pool, threshold, maxDepth: 3 }))
      assert.equal((await ask('{"[[[[":[{}],"}":"\\"[[["}')).status, 200)
      assert.deepEqual(await ask('[[[[]]]]'), {
        status: 400,
        type: 'entity.too.deep',
        message: 'request entity nests deeper than 3 levels',
        limit: 3,
      })
    })

    test(`onProtoPoisoning refuses or removes __proto__ keys (${place})`, async t => {
      const refusing = await serve(t, json({ pool, threshold, onProtoPoisoning: 'error' }))
      assert.equal((await refusing('{"__proto__":1}')).type, 'entity.parse.failed')
      const removing = await serve(t, json({ pool, threshold, onProtoPoisoning: 'remove' }))
      assert.deepEqual((await removing('[{"__proto__":1,"a":2}]')).body, [{ a: 2 }])
    })

    test(`ndjson() parses lines into an array, skips blank lines, and names the line of an error (${place})`, async t => {
      const ask = await serve(t, ndjson({ pool, threshold, maxLines: 3 }))
      assert.deepEqual(await ask('', linesHeaders), { status: 200, body: [] })
      const good = [
        '{"a":1}\r\n\r\n2\n \t\n"three"',
        '{"a":1}\n2\n"three"\n',
        '{"a":1}\n2\r\n"three"\r\n\n\n',
      ]
      for (const body of good) {
        assert.deepEqual(await ask(body, linesHeaders), { status: 200, body: [{ a: 1 }, 2, 'three'] })
      }
      const bad = await ask('1\n\n{"a":\n3', linesHeaders)
      assert.deepEqual([bad.status, bad.type, bad.line], [400, 'entity.parse.failed', 3])
      assert.match(bad.message, /^Line 3: /)
      const shallow = await serve(t, ndjson({ pool, threshold, maxDepth: 2 }))
      const open = await shallow('{"a":1\n{"a":1\n{"a":1', linesHeaders)
      assert.deepEqual([open.type, open.line], ['entity.parse.failed', 1])
      assert.equal((await shallow('[[]]\n[[]]\n[[[]]]', linesHeaders)).type, 'entity.too.deep')
      const refusing = await serve(t, ndjson({ pool, threshold, onProtoPoisoning: 'error' }))
      const poisoned = await refusing('1\n{"a":{"__proto__":2}}', linesHeaders)
      assert.deepEqual([poisoned.status, poisoned.line], [400, 2])
      const removing = await serve(t, ndjson({ pool, threshold, onProtoPoisoning: 'remove' }))
      assert.deepEqual((await removing('1\n{"a":{"__proto__":2}}', linesHeaders)).body, [1, { a: {} }])
      const many = await ask('1\n2\n3\n4', linesHeaders)
      assert.deepEqual([many.status, many.type, many.limit], [413, 'lines.too.many', 3])
    })
  })
}

for (const threshold of [0, Number.POSITIVE_INFINITY]) {
  test(`a program may change the body field of a parse error (threshold: ${threshold})`, async t => {
    const app = express()
    app.use(json({ pool, threshold, maxDepth: 9 }))
    app.use((error, _request, response, _next) => {
      const { body } = error
      error.body = '[hidden]'
      response.status(error.status).json([body, error.body, Object.keys(error).includes('body')])
    })
    const port = await listen(t, createServer(app))
    const answer = await send(port, { headers, body: '{"a":' })
    assert.deepEqual([answer.status, JSON.parse(answer.body)], [400, ['{"a":', '[hidden]', true]])
  })
}

test('readers for node:http resolve to the body, and to undefined without a body', async t => {
  const readers = { '/json': jsonReader(), '/lines': ndjsonReader() }
  const server = createServer(async (request, response) => {
    response.end(String(JSON.stringify(await readers[request.url](request))))
  })
  const port = await listen(t, server)
  const ask = async asked => (await send(port, asked)).body
  assert.equal(await ask({ path: '/json', headers, body: '{"a":1}' }), '{"a":1}')
  assert.equal(await ask({ path: '/json', method: 'GET' }), 'undefined')
  assert.equal(await ask({ path: '/lines', headers: linesHeaders, body: '1\n2' }), '[1,2]')
})

test('repeated reads of a request resolve to the same body, also while it is parsed', async t => {
  for (const threshold of [0, Number.POSITIVE_INFINITY]) {
    const read = jsonReader({ pool, threshold, module, select: 'later' })
    const found = []
    const server = createServer(async (request, response) => {
      const ended = once(request, 'end')
      const first = read(request)
      await ended
      found.push(...(await Promise.all([first, read(request)])), await read(request))
      response.end()
    })
    await send(await listen(t, server), { headers, body: '[1]' })
    assert.deepEqual(found, [[1], [1], [1]])
  }
})

test('a read after the client has disconnected rejects with request.aborted', async t => {
  const read = jsonReader()
  const server = createServer()
  const arrival = once(server, 'request')
  const socket = await open(await listen(t, server))
  socket.write(requestBytes({ headers, body: '[1]' }))
  const [request] = await arrival
  socket.destroy()
  await until(() => request.aborted)
  const { status, type, code } = await rejection(read(request))
  assert.deepEqual([status, type, code], [400, 'request.aborted', 'ECONNABORTED'])
})

test('a read rejects with request.aborted when the client disconnects in the middle of a gzip body', async t => {
  const read = jsonReader()
  const server = createServer()
  const arrival = once(server, 'request')
  const socket = await open(await listen(t, server))
  const bytes = gzipSync('[1]')
  const head = requestBytes({ headers: { ...headers, 'content-encoding': 'gzip' }, body: bytes })
  socket.write(head.subarray(0, -9))
  const [request] = await arrival
  const refusal = rejection(alive(read(request)))
  socket.destroy()
  const { status, type, code } = await refusal
  assert.deepEqual([status, type, code], [400, 'request.aborted', 'ECONNABORTED'])
})

test('runFor() returns the result, rejects with 503 on a full queue, and stops when the client disconnects', async t => {
  const words = sharedWords(6)
  const own = new Pool({ filename: handler('queued.js'), workerData: words, maxWorkers: 1, maxQueue: 0 })
  t.after(() => own.destroy())
  const ends = []
  const server = createServer((request, response) => {
    const name = request.url.slice(1)
    const end = runFor(request, own, { index: 0, length: 2 }, { name })
    ends.push(end)
    end.then(
      value => response.end(JSON.stringify(value)),
      error => response.writeHead(error.status, error.headers).end(),
    )
  })
  const port = await listen(t, server)
  assert.equal((await send(port, { path: '/sized' })).body, '{"index":0,"text":"xx"}')
  const socket = await open(port)
  socket.write(requestBytes({ path: '/patient' }))
  await reached(words, 0, 2)
  const refused = await send(port, { path: '/sized' })
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'])
  socket.destroy()
  await assert.rejects(ends[1], { type: 'request.aborted', status: 400 })
  assert.equal(own.stats().tasks.cancelled, 1)
})

test('runFor() rejects wrong options of run() with ERR_LIDO_INVALID_TASK', async t => {
  const own = new Pool({ filename: handler('queued.js'), workerData: sharedWords(6), maxWorkers: 1 })
  t.after(() => own.destroy())
  const ends = []
  const mistakes = [null, 5, 'x', [], { timout: 5 }]
  const server = createServer((request, response) => {
    ends.push(...mistakes.map(options => rejection(runFor(request, own, 1, options))))
    response.end()
  })
  await send(await listen(t, server), {})
  for (const [index, { status, code, message }] of (await Promise.all(ends)).entries()) {
    assert.deepEqual([status, code], [500, 'ERR_LIDO_INVALID_TASK'])
    assert.match(message, index < 4 ? /The options of run\(\) must be an object/ : /Did you mean 'timeout'\?/)
  }
})

describe('invalid options of body parsers', () => {
  const wrong = [
    [
      'a misspelt option',
      { treshold: 1 },
      'treshold',
      /Unknown option 'treshold' for .*Did you mean 'threshold'\?/,
    ],
    [
      'a negative threshold',
      { threshold: -1 },
      'threshold',
      /must be an integer of at least 0, or Infinity; got -1/,
    ],
    ['a text as threshold', { threshold: '1mb' }, 'threshold', /got '1mb'/],
    ['an object as pool', { pool: {} }, 'pool', /must be a Pool; got an object/],
    ['a number as strict', { strict: 1 }, 'strict', /must be true or false; got 1/],
    ['a text as verify', { verify: 'x' }, 'verify', /must be a function; got 'x'/],
    [
      'a function as reviver',
      { reviver: () => {} },
      'reviver',
      /functions cannot cross to a worker; got a function/,
    ],
    [
      'select without a module',
      { select: 'x' },
      'module',
      /The option 'select' needs the option 'module', which is missing/,
    ],
    [
      'a module without a function name',
      { module },
      'module',
      /Set at least one of validate, select, reviver/,
    ],
    [
      'a relative path as module',
      { module: './x.js', select: 'x' },
      'module',
      /must be a function that imports a module, an absolute path/,
    ],
    [
      'a function without an import as module',
      { module: () => 1, select: 'x' },
      'module',
      /must be a function with one import/,
    ],
    [
      'an import without base',
      { module: () => import('./x.js'), select: 'x' },
      'module',
      /Add the option base: import\.meta\.url/,
    ],
    [
      'a data: URL as module',
      { module: new URL('data:text/javascript,'), select: 'x' },
      'module',
      /must be a function that imports a module, an absolute path/,
    ],
    [
      'a file: text with a host as module',
      { module: 'file://a b/x.js', select: 'x' },
      'module',
      /on this machine; got 'file:\/\/a b\/x\.js'/,
    ],
    [
      'a file: URL with an encoded slash as module',
      { module: new URL('file:///a%2fb.js'), select: 'x' },
      'module',
      /machine; got 'file:\/\/\/a%2fb\.js'/,
    ],
    [
      'an unknown onProtoPoisoning',
      { onProtoPoisoning: 'throw' },
      'onProtoPoisoning',
      /must be 'error', 'remove' or 'ignore'; got 'throw'/,
    ],
  ]
  for (const [mistake, options, option, message] of wrong) {
    test(`json() throws an InvalidOptionError for ${mistake}`, () => {
      const refusal = { name: 'InvalidOptionError', code: 'ERR_LIDO_INVALID_OPTION', option, message }
      assert.throws(() => json(options), refusal)
      if (!('strict' in options || 'verify' in options)) assert.throws(() => fastifyJson(options), refusal)
    })
  }

  for (const bodyLimit of ['20mb', 0, -1, 1.5, Number.NaN, null]) {
    test(`fastifyJson() throws an error for a bodyLimit of ${bodyLimit}`, () => {
      const refusal = {
        option: 'bodyLimit',
        message: /must be an integer above 0, in bytes, or Infinity; got/,
      }
      assert.throws(() => fastifyJson({ bodyLimit }), refusal)
    })
  }
})

test('a program exits after its servers are closed, although nobody closed the default pool', async () => {
  const program = `
    import { createServer, IncomingMessage } from 'node:http'
    import { once } from 'node:events'
    import express from '${import.meta.resolve('express')}'
    import Fastify from '${import.meta.resolve('fastify')}'
    import { fastifyJson, json } from '${import.meta.resolve('lido/body')}'
    const big = JSON.stringify({ text: 'x'.repeat(200_000) })
    const send = async url => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(url, { method: 'POST', headers, body: big })
      return (await answer.json()).length
    }
    const app = express()
    app.use(json({ limit: '1mb' }))
    app.post('/', (request, response) => response.json({ length: request.body.text.length }))
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const fastify = Fastify()
    await fastify.register(fastifyJson())
    fastify.post('/', async request => ({ length: request.body.text.length }))
    const url = await fastify.listen({ port: 0, host: '127.0.0.1' })
    console.log(await send('http://127.0.0.1:' + server.address().port), await send(url))
    await fastify.close()
    server.closeAllConnections()
    server.close()`
  const { exitCode, output, errors } = await runProgram(program)
  assert.deepEqual({ exitCode, output, errors }, { exitCode: 0, output: '200000 200000\n', errors: '' })
})

test('runFor() rejects with Retry-After when workers do not start, unless restart.pause is Infinity', async t => {
  const request = new IncomingMessage(null)
  for (const [pause, expected] of [
    [90_000, /^\d+$/],
    [Infinity, /^undefined$/],
  ]) {
    const restart = { failures: 1, pause }
    const own = new Pool({ minWorkers: 0, execArgv: ['--require', './missing.cjs'], restart })
    t.after(() => own.destroy())
    const run = () => rejection(alive(runFor(request, own, 1, { filename: module })))
    assert.equal((await run()).status, 500)
    const { status, headers } = await run()
    assert.equal(status, 503)
    assert.match(String(headers['Retry-After']), expected)
  }
})
