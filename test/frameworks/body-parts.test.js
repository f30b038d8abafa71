// What readers do beyond the framework's own: functions of a module, lines, limits of depth; and what is refused at once.
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

/** Answers with the body, or with what an error says. */
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
  ['in place', Number.POSITIVE_INFINITY],
]) {
  describe(`${place}`, () => {
    test('what select returns is the body', async t => {
      const ask = await serve(t, json({ pool, threshold, module, select: 'total' }))
      assert.deepEqual(await ask('{"items":[1,2]}'), { status: 200, body: 3 })
    })

    test('what a validator refuses is answered with 422 and the reasons', async t => {
      const ask = await serve(t, json({ pool, threshold, module, validate: 'reasons', select: 'total' }))
      assert.deepEqual(await ask('{"items":[1,2]}'), { status: 200, body: 3 })
      const { status, type, issues } = await ask('{"items":1}')
      assert.deepEqual([status, type, issues], [422, 'entity.invalid', ['items must be an array']])
    })

    test('a validator that answers false keeps its reasons beside itself', async t => {
      const ask = await serve(t, json({ pool, threshold, module, validate: 'compiled' }))
      const { status, issues } = await ask('{"items":["1"]}')
      assert.deepEqual([status, issues[0].instancePath], [422, '/items/0'])
    })

    test('a schema of the common standard checks, and makes the value', async t => {
      const ask = await serve(t, json({ pool, threshold, module, validate: 'schema' }))
      assert.deepEqual(await ask('{"a":2}'), { status: 200, body: { doubled: 4 } })
      assert.deepEqual((await ask('{"a":"2"}')).issues, [{ message: 'a must be a number', path: ['a'] }])
    })

    test('the issues of a schema are data, whatever its library puts beside them', async t => {
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

    test('what a function throws arrives as it is, with its status', async t => {
      for (const select of ['throwing', 'conflicting']) {
        const ask = await serve(t, json({ pool, threshold, module, select }))
        const { status, message } = await ask('{}')
        assert.deepEqual([status, message], [409, 'too many'])
      }
    })

    test('a function that is not there is the operator’s to mend', async t => {
      const ask = await serve(t, json({ pool, threshold, module, select: 'totals' }))
      const { status, message } = await ask('{}')
      assert.equal(status, 500)
      assert.match(message, /No function named 'totals' is exported from file:.*body-functions\.js/)
    })

    test('a reviver revives', async t => {
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

    test('what a reviver throws is the fault of the body, unless it says otherwise', async t => {
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

    test('maxDepth is the last that is accepted', async t => {
      const ask = await serve(t, json({ pool, threshold, maxDepth: 3 }))
      assert.equal((await ask('{"[[[[":[{}],"}":"\\"[[["}')).status, 200)
      assert.deepEqual(await ask('[[[[]]]]'), {
        status: 400,
        type: 'entity.too.deep',
        message: 'request entity nests deeper than 3 levels',
        limit: 3,
      })
    })

    test('keys that poison are refused or removed when that is asked for', async t => {
      const refusing = await serve(t, json({ pool, threshold, onProtoPoisoning: 'error' }))
      assert.equal((await refusing('{"__proto__":1}')).type, 'entity.parse.failed')
      const removing = await serve(t, json({ pool, threshold, onProtoPoisoning: 'remove' }))
      assert.deepEqual((await removing('[{"__proto__":1,"a":2}]')).body, [{ a: 2 }])
    })

    test('lines become an array, blank ones are passed over, an error names its line', async t => {
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
  test(`the error of a body that is no JSON may be changed as body-parser's may, threshold ${threshold}`, async t => {
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

test('readers of node:http resolve to the body, and to undefined without one', async t => {
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

test('a body that is asked for again while it is parsed is the same', async t => {
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

test('a request whose client left before it was read is none that has no body', async t => {
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

test('a request whose client leaves in the middle of a body that is compressed is told as any other', async t => {
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

test('a task that is run for a request is cancelled when its client leaves, and else answers', async t => {
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

test('runFor() refuses wrong options of run() with the error of the pool', async t => {
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

describe('what is no option is refused at once, in words', () => {
  const wrong = [
    [
      { treshold: 1 },
      'treshold',
      /There is no option 'treshold' \(given as 1\) for .*Did you mean 'threshold'\?/,
    ],
    [{ threshold: -1 }, 'threshold', /must be an integer of at least 0, or Infinity; got -1/],
    [{ threshold: '1mb' }, 'threshold', /got '1mb'/],
    [{ pool: {} }, 'pool', /must be a Pool; got an object/],
    [{ strict: 1 }, 'strict', /must be true or false; got 1/],
    [{ verify: 'x' }, 'verify', /must be a function; got 'x'/],
    [{ reviver: () => {} }, 'reviver', /functions do not cross to a worker; got a function/],
    [{ select: 'x' }, 'module', /The option 'select' names an export of 'module', which is missing/],
    [{ module }, 'module', /needs at least one of validate, select, reviver/],
    [{ module: './x.js', select: 'x' }, 'module', /must be an absolute path/],
    [{ module: new URL('data:text/javascript,'), select: 'x' }, 'module', /must be an absolute path/],
    [{ module: 'file://a b/x.js', select: 'x' }, 'module', /on this machine; got 'file:\/\/a b\/x\.js'/],
    [{ module: new URL('file:///a%2fb.js'), select: 'x' }, 'module', /machine; got 'file:\/\/\/a%2fb\.js'/],
    [{ onProtoPoisoning: 'throw' }, 'onProtoPoisoning', /must be 'error', 'remove' or 'ignore'; got 'throw'/],
  ]
  for (const [options, option, message] of wrong) {
    test(message.source.slice(0, 40), () => {
      const refusal = { name: 'InvalidOptionError', code: 'ERR_LIDO_INVALID_OPTION', option, message }
      assert.throws(() => json(options), refusal)
      if (!('strict' in options || 'verify' in options)) assert.throws(() => fastifyJson(options), refusal)
    })
  }

  for (const bodyLimit of ['20mb', 0, -1, 1.5, Number.NaN, null]) {
    test(`a bodyLimit of ${bodyLimit}`, () => {
      const refusal = {
        option: 'bodyLimit',
        message: /must be an integer above 0, in bytes, or Infinity; got/,
      }
      assert.throws(() => fastifyJson({ bodyLimit }), refusal)
    })
  }
})

test('a program whose servers are closed ends by itself, with the pool that nobody closed', async () => {
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

test('a task for a request, of a pool that starts no more workers, is told when to come back, unless that is never', async t => {
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
