// The registration of the plugin: names, scopes, mistakes, and the decorators of fastify-piscina.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Fastify from 'fastify'
import { Pool } from 'lido'
import fastifyPool, { fastifyPiscina } from 'lido/fastify'
import { rejection } from '../helpers/rejection.js'
import { oneWorker, openApp } from './fastify-app.js'
import { work } from './held.js'

const require = createRequire(import.meta.url)
const limit = { timeout: 60_000 }

async function mistake(t, ...registrations) {
  const app = Fastify()
  t.after(() => app.close())
  for (const options of registrations) app.register(fastifyPool, options)
  return await rejection(app.ready())
}

describe('registration of fastifyPool', limit, () => {
  test('a pool that is registered without a name is app.pool', async t => {
    const app = await openApp(t)
    assert.ok(app.pool instanceof Pool)
    assert.equal(app.pools.default, app.pool)
    assert.equal(await app.pool.run(4, { name: 'twice' }), 8)
  })

  test('a pool that is registered with a name is in app.pools, beside the pool without a name', async t => {
    const app = await openApp(t, oneWorker, async scope => {
      scope.get('/', async request => [
        await request.pool.run('a'),
        await request.pools.numbers.run(3),
        await request.pools.default.run('b'),
      ])
      await scope.register(fastifyPool, { ...oneWorker, as: 'numbers', name: 'twice' })
    })
    assert.deepEqual((await app.inject('/')).json(), ['a', 6, 'b'])
  })

  test('a pool that is registered in a scope is visible only in that scope', async t => {
    const seen = {}
    await openApp(t, null, async scope => {
      for (const name of ['one', 'other']) {
        scope.register(async inner => {
          await inner.register(fastifyPool, oneWorker)
          seen[name] = inner.pool
        })
      }
      scope.after(() => {
        seen.around = scope.pool
      })
    })
    assert.ok(seen.one instanceof Pool && seen.other instanceof Pool && seen.one !== seen.other)
    assert.equal(seen.around, undefined)
    for (const pool of [seen.one, seen.other]) t.after(() => pool.destroy())
  })

  test('a pool in an inner scope works beside a pool that the outer scope registers later', async t => {
    const app = await openApp(t, null, async scope => {
      scope.register(async inner => {
        await inner.register(fastifyPool, { ...oneWorker, as: 'numbers', name: 'twice' })
        inner.get('/inner', async request => [
          await request.pools.numbers.run(3),
          await request.pool.run('a'),
          await request.pools.default.run('b'),
        ])
      })
      scope.register(fastifyPool, oneWorker)
      scope.get('/', async request => Object.keys(request.pools))
    })
    assert.deepEqual((await app.inject('/inner')).json(), [6, 'a', 'b'])
    assert.deepEqual((await app.inject('/')).json(), ['default'])
  })

  test('a second registration without a name is refused with a hint', async t => {
    const error = await mistake(t, oneWorker, oneWorker)
    assert.equal(error.code, 'ERR_LIDO_INVALID_OPTION')
    assert.match(error.message, /already been registered with a pool without a name\. .*as: 'images'/)
  })

  test('a second registration with the same name is refused', async t => {
    const error = await mistake(t, { ...oneWorker, as: 'images' }, { ...oneWorker, as: 'images' })
    assert.match(error.message, /already been registered with a pool named 'images'/)
  })

  for (const options of [{ Filename: work }, { Filename: fileURLToPath(work), piscina: true }]) {
    test(`the option Filename is refused with a hint${options.piscina ? ', also with piscina: true' : ''}`, async t => {
      const error = await mistake(t, options)
      assert.equal(error.option, 'Filename')
      assert.match(error.message, /Unknown option 'Filename'.* Did you mean 'filename'\?/)
    })
  }

  for (const [option, value, words] of [
    ['as', '', /'as' must be a string that is not empty; got ''/],
    ['piscina', 'true', /'piscina' must be true or false; got 'true'/],
    ['deadlineMs', -1, /'deadlineMs' must be milliseconds: a number above 0/],
    // An environment variable is a string.
    ['deadlineMs', '500', /a number above 0, or Infinity; got '500'/],
    ['retryAfter', 0.5, /'retryAfter' must be seconds: an integer/],
    ['maxWorkers', '4', /'maxWorkers' must be an integer/],
  ]) {
    test(`the value ${JSON.stringify(value)} of '${option}' is refused with a clear error`, async t => {
      const error = await mistake(t, { ...oneWorker, [option]: value })
      assert.equal(error.option, option)
      assert.match(error.message, words)
    })
  }

  test('request.pool throws an error that names the pools when every pool has a name', async t => {
    const app = await openApp(t, { ...oneWorker, as: 'images' }, scope => {
      scope.get('/', async request => await request.pool.run(1))
    })
    const answer = await app.inject('/')
    assert.equal(answer.statusCode, 500)
    assert.match(
      answer.json().message,
      /No pool was registered without a name\. Use request\.pools\.images\./,
    )
  })

  for (const [where, place] of Object.entries({
    'on the server': (app, routes) => routes(app),
    'in a scope': (app, routes) => app.register(async scope => routes(scope)),
  })) {
    test(`a hook before the registration that uses request.pool gets a clear error (${where})`, async t => {
      const app = Fastify()
      t.after(() => app.close())
      place(app, scope => {
        scope.addHook('onRequest', async request => await request.pool.run(1))
        scope.get('/', async () => 'answer')
      })
      app.register(fastifyPool, oneWorker)
      const { message } = (await app.inject('/')).json()
      assert.match(message, /not tied to pools yet\. Register 'lido\/fastify' before your onRequest hooks/)
    })
  }
})

describe('decorators of fastify-piscina', limit, () => {
  const filename = fileURLToPath(new URL('./handlers/sum.cjs', import.meta.url))
  const ways = {
    'fastify-piscina': app => app.register(require('fastify-piscina'), { filename, maxThreads: 1 }),
    'lido/fastify, piscina: true': app =>
      app.register(fastifyPool, { filename, maxThreads: 1, piscina: true }),
    'lido/fastify, fastifyPiscina': app => app.register(fastifyPiscina, { filename, maxThreads: 1 }),
  }

  for (const [way, register] of Object.entries(ways)) {
    test(`the decorators of fastify-piscina run tasks and reject failed tasks (${way})`, async t => {
      const app = Fastify()
      t.after(async () => {
        await app.close()
        await app.piscina.destroy()
      })
      register(app)
      app.get('/sum', async () => ({ sum: await app.runTask({ a: 1, b: 2 }) }))
      app.get('/broken', async () => await app.runTask({ a: 1 }))
      app.get('/listed', async () => {
        const bytes = new Uint8Array(8)
        await app.runTask({ a: 1, b: 2, bytes }, [bytes.buffer])
        return bytes.byteLength
      })
      app.get('/elsewhere', async () => await app.runTask('x', filename.replace('sum', 'upper')))
      // The signal is aborted before the call. Piscina 3 in fastify-piscina breaks when a running task is aborted as it ends.
      app.get('/cancelled', async () => {
        return (await rejection(app.runTask({ a: 1, b: 2 }, AbortSignal.abort()))).name
      })
      const ask = async path => {
        const { statusCode, body } = await app.inject(path)
        return [statusCode, body]
      }
      assert.deepEqual(await ask('/sum'), [200, '{"sum":3}'])
      assert.deepEqual(await ask('/broken'), [
        500,
        '{"statusCode":500,"error":"Internal Server Error","message":"b is missing"}',
      ])
      assert.deepEqual(await ask('/listed'), [200, '0'])
      assert.deepEqual(await ask('/elsewhere'), [200, 'X'])
      assert.deepEqual(await ask('/cancelled'), [200, 'AbortError'])
      assert.equal(typeof app.piscina.completed, 'number')
    })
  }

  test('app.close() closes app.piscina after its accepted tasks', async () => {
    const app = Fastify()
    await app.register(fastifyPiscina, { filename, maxThreads: 1 })
    const answer = app.runTask({ a: 1, b: 1 })
    await app.close()
    assert.equal(await answer, 2)
    assert.equal(app.piscina.threads.length, 0)
  })
})
