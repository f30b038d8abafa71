// PoolModule: registrations, mistakes, injection, requests on real sockets with both platforms of Nest, and health.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Inject, UseFilters } from '@nestjs/common'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { HealthCheckService, TerminusModule } from '@nestjs/terminus'
import { Pool, QueueFullError } from 'lido'
import {
  ClientSignal,
  getPoolToken,
  InjectPool,
  PoolExceptionFilter,
  PoolHealthIndicator,
  PoolModule,
} from 'lido/nestjs'
import { rejection } from '../helpers/rejection.js'
import { Client, until } from './client.js'
import { Held } from './held.js'
import { controllerOf, moduleOf, oneWorker, openNest, serveNest } from './nestjs-app.js'
import { listenOnTwo } from './two-addresses.js'

const { version: terminusVersion } = createRequire(import.meta.url)('@nestjs/terminus/package.json')
const limit = { timeout: 60_000 }
const platforms = { express: () => undefined, fastify: () => new FastifyAdapter() }

describe('registration of PoolModule', limit, () => {
  test('a pool of forRoot() is injected without a name in every module', async t => {
    const inner = moduleOf({
      controllers: [controllerOf({ twice: pool => pool.run(4, { name: 'twice' }) }, [InjectPool()])],
    })
    const { url, app } = await serveNest(t, { imports: [PoolModule.forRoot(oneWorker), inner] })
    assert.equal(await (await fetch(`${url}/twice`)).text(), '8')
    assert.ok(app.get(getPoolToken()) instanceof Pool)
  })

  test('forRootAsync() waits for the providers that its factory injects', async t => {
    const settings = { provide: 'SETTINGS', useFactory: async () => ({ handler: 'twice' }) }
    const config = moduleOf({ providers: [settings], exports: ['SETTINGS'] })
    const root = PoolModule.forRootAsync({
      imports: [config],
      inject: ['SETTINGS'],
      useFactory: async ({ handler }) => ({ ...oneWorker, name: handler }),
    })
    const app = await openNest(t, { imports: [root] })
    assert.equal(await app.get(getPoolToken()).run(5), 10)
  })

  test('a pool of forFeature() is injected by its name, beside the pool of forRoot()', async t => {
    const answer = async (pool, numbers, echoes) => [
      await pool.run('a'),
      await numbers.run(2),
      await echoes.run('b'),
    ]
    const feature = moduleOf({
      imports: [
        PoolModule.forFeature({ ...oneWorker, as: 'numbers', name: 'twice' }, { ...oneWorker, as: 'echoes' }),
      ],
      controllers: [
        controllerOf({ all: answer }, [InjectPool(), InjectPool('numbers'), InjectPool('echoes')]),
      ],
    })
    const { url } = await serveNest(t, { imports: [PoolModule.forRoot(oneWorker), feature] })
    assert.deepEqual(await (await fetch(`${url}/all`)).json(), ['a', 4, 'b'])
  })

  test('a pool of forFeature() is visible in another module only when it is exported', async t => {
    const make = exports => {
      const feature = moduleOf({ imports: [PoolModule.forFeature({ ...oneWorker, as: 'images' })], exports })
      const user = moduleOf({
        imports: [feature],
        controllers: [controllerOf({ one: pool => pool.run(1) }, [InjectPool('images')])],
      })
      return { imports: [PoolModule.forRoot(oneWorker), user] }
    }
    await openNest(t, make([PoolModule]))
    assert.match((await rejection(openNest(t, make([])))).message, /LIDO_POOL\(images\)/)
  })

  test('a second registration of the same pool is refused with a hint', async t => {
    const twice = await rejection(
      openNest(t, { imports: [PoolModule.forRoot(oneWorker), PoolModule.forRoot(oneWorker)] }),
    )
    assert.match(twice.message, /PoolModule\.forRoot\(\) has already been registered\. Name further pools/)
    const feature = () => moduleOf({ imports: [PoolModule.forFeature({ ...oneWorker, as: 'images' })] })
    const named = await rejection(openNest(t, { imports: [feature(), feature()] }))
    assert.match(named.message, /The pool 'images' has already been registered\. .*export PoolModule/)
    const inOne = () => PoolModule.forFeature({ ...oneWorker, as: 'images' }, { ...oneWorker, as: 'images' })
    assert.throws(inOne, { option: 'as', message: /The pool 'images' has already been registered/ })
  })

  test('onApplicationShutdown() accepts a mock pool without close()', async () => {
    await new PoolModule([{ run: async () => 42 }, null]).onApplicationShutdown()
  })

  test('a wrong option is refused with its name, at registration or at start', async t => {
    assert.throws(
      () => PoolModule.forFeature({ ...oneWorker }),
      /'as' of forFeature\(\) must be the pool's name/,
    )
    assert.throws(
      () => PoolModule.forRoot({ ...oneWorker, retryAfter: -1 }),
      /'retryAfter' of forRoot\(\) must be seconds/,
    )
    const capital = await rejection(openNest(t, { imports: [PoolModule.forRoot({ Filename: 'x' })] }))
    assert.match(capital.message, /Unknown option 'Filename'.* Did you mean 'filename'\?/)
  })

  test('a registration with missing or wrong options throws an InvalidOptionError', () => {
    const useFactory = () => oneWorker
    for (const [register, option, message] of [
      [() => PoolModule.forRoot(), 'options', /must be an object, .*; got undefined/],
      [() => PoolModule.forRootAsync(), 'options', /must be an object, .*; got undefined/],
      [() => PoolModule.forFeature(undefined), 'options', /as in \{ as: 'images' \}; got undefined/],
      [
        () => PoolModule.forRootAsync({}),
        'useFactory',
        /must be a function that returns options; got undefined/,
      ],
      [() => PoolModule.forRoot({ isGlobal: 'no' }), 'isGlobal', /must be true or false; got 'no'/],
      [() => PoolModule.forRoot({ retryAfter: '2' }), 'retryAfter', /an integer of at least 0; got '2'/],
      [() => PoolModule.forRootAsync({ useFactory, exceptionFilter: 0 }), 'exceptionFilter', /got 0/],
    ])
      assert.throws(register, { name: 'InvalidOptionError', option, message })
  })

  test('forRootAsync() refuses options of the pool beside useFactory', async t => {
    const useFactory = () => oneWorker
    assert.throws(
      () => PoolModule.forRootAsync({ useFactory, maxQueue: 3 }),
      /Unknown option 'maxQueue' for forRootAsync\(\), whose useFactory returns the options of the pool/,
    )
    const app = await openNest(t, { imports: [PoolModule.forRootAsync({ useFactory, retryAfter: 2 })] })
    assert.ok(app.get(getPoolToken()) instanceof Pool)
  })
})

test('new PoolExceptionFilter() throws for an invalid retryAfter', () => {
  for (const retryAfter of [-1, 0.5, Number.NaN, '1'])
    assert.throws(() => new PoolExceptionFilter({}, retryAfter), { option: 'retryAfter' })
})

describe('PoolExceptionFilter outside HTTP', () => {
  const error = new QueueFullError(0)
  const filter = new PoolExceptionFilter({})
  const of = (type, client) => ({ getType: () => type, switchToWs: () => ({ getClient: () => client }) })

  test("a pool error in a microservice is left to Nest's own filter", () =>
    assert.equal(filter.catch(error, of('rpc')), undefined))

  test('a pool error in a gateway is sent to its client', () => {
    const sent = []
    filter.catch(error, of('ws', { emit: (...event) => sent.push(event) }))
    assert.deepEqual(sent, [['exception', { status: 'error', message: error.message, code: error.code }]])
  })
})

for (const [platform, adapter] of Object.entries(platforms)) {
  describe(`requests on ${platform}`, limit, () => {
    const heldRoute = (held, options) => ({
      held: (pool, signal) => pool.run(held.words, { name: 'held', signal, ...options }),
      small: pool => pool.run('small'),
      die: pool => pool.run(1, { name: 'die' }),
      fail: pool => pool.run('not so', { name: 'fail' }),
    })
    const serve = (t, held, options, make = controllerOf) => {
      const routes = make(heldRoute(held), [InjectPool()], [ClientSignal()])
      return serveNest(
        t,
        { imports: [PoolModule.forRoot({ ...oneWorker, ...options })], controllers: [routes] },
        adapter(),
      )
    }

    test(`the running task of a client that disconnects is cancelled (${platform})`, async t => {
      const held = new Held()
      const { port, url } = await serve(t, held)
      const client = await Client.to(port)
      client.get('/held')
      await held.starts()
      client.leave()
      await held.cancels()
      assert.equal(await (await fetch(`${url}/small`)).text(), 'small')
    })

    test(`a full queue is answered with 503 and Retry-After in the error format of Nest (${platform})`, async t => {
      const held = new Held()
      const { url } = await serve(t, held, { maxQueue: 0, retryAfter: 3 })
      const first = fetch(`${url}/held`)
      await held.starts()
      const answer = await fetch(`${url}/held`)
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '3'])
      const { message, ...rest } = await answer.json()
      assert.deepEqual(rest, { statusCode: 503, error: 'Service Unavailable', code: 'ERR_LIDO_QUEUE_FULL' })
      assert.match(message, /All workers are busy/)
      held.openGate()
      assert.equal(await (await first).text(), 'done')
    })

    test(`a PoolExceptionFilter class on a controller answers pool errors (${platform})`, async t => {
      const routes = controllerOf({ small: pool => pool.run('small') }, [InjectPool()])
      UseFilters(PoolExceptionFilter)(routes)
      const root = PoolModule.forRoot({ ...oneWorker, exceptionFilter: false })
      const { url, pool } = await serveNest(t, { imports: [root], controllers: [routes] }, adapter())
      await pool.close()
      const answer = await fetch(`${url}/small`)
      assert.deepEqual([answer.status, (await answer.json()).code], [503, 'ERR_LIDO_POOL_CLOSED'])
    })

    test(`a request whose task times out is answered with 503 (${platform})`, async t => {
      const held = new Held()
      const { url } = await serve(t, held, { timeout: 50, cancelGrace: Infinity })
      assert.equal((await fetch(`${url}/held`)).status, 503)
      await held.cancels()
    })

    test(`a request whose worker exits is answered with 500, and the next request succeeds (${platform})`, async t => {
      const { url } = await serve(t, new Held())
      const answer = await fetch(`${url}/die`)
      assert.deepEqual(await answer.json(), { statusCode: 500, message: 'Internal server error' })
      assert.equal(await (await fetch(`${url}/small`)).text(), 'small')
    })

    test(`app.close() answers accepted requests before it closes the pool (${platform})`, async t => {
      const held = new Held()
      const { app, port, pool } = await serveNest(
        t,
        {
          imports: [PoolModule.forRoot(oneWorker)],
          controllers: [controllerOf(heldRoute(held), [InjectPool()], [ClientSignal()])],
        },
        adapter(),
        { forceCloseConnections: false },
      )
      const clients = [await Client.to(port), await Client.to(port)]
      for (const client of clients) client.get('/held')
      await held.starts()
      await until(() => pool.stats().tasks.accepted === 2)
      const server = app.getHttpServer()
      const closed = app.close()
      await until(() => !server.listening)
      assert.equal(pool.stats().state, 'open')
      held.openGate()
      for (const client of clients) {
        await client.received('done')
        client.leave()
      }
      await closed
      assert.deepEqual([pool.stats().state, pool.workers.length], ['closed', 0])
    })
  })
}

test('app.close() answers a request on the second address before it closes the pool (fastify)', async t => {
  const held = new Held()
  const root = { imports: [PoolModule.forRoot(oneWorker)] }
  root.controllers = [
    controllerOf(
      {
        twice: async pool => {
          await pool.run(held.words, { name: 'held' })
          return await pool.run(held.words, { name: 'held' })
        },
      },
      [InjectPool()],
    ),
  ]
  const app = await openNest(t, root, platforms.fastify(), { forceCloseConnections: false })
  const pool = app.get(getPoolToken())
  const second = await listenOnTwo(t, () => app.listen(0))
  if (app.getHttpAdapter().getInstance().addresses().length < 2) return t.skip('the machine has one address')
  const server = app.getHttpServer()
  const client = await Client.to(server.address().port, second)
  client.get('/twice')
  await held.starts()
  const closed = app.close()
  await once(server, 'close')
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  held.openGate()
  assert.match(await client.received('\r\n\r\n'), /200 OK/)
  client.leave()
  await closed
  assert.equal(pool.stats().state, 'closed')
})

describe('PoolHealthIndicator', limit, () => {
  const terminus = Inject(HealthCheckService)
  const indicator = Inject(PoolHealthIndicator)

  test('check() refuses a limit that is no number, and a misspelt option', () => {
    const pools = new PoolHealthIndicator({ get: () => assert.fail('it looked for the pool') })
    for (const [options, option] of [
      [{ maxWaiting: Number.NaN }, 'maxWaiting'],
      [{ maxwaiting: 5 }, 'maxwaiting'],
    ]) {
      assert.throws(() => pools.check('work', options), { code: 'ERR_LIDO_INVALID_OPTION', option })
    }
  })

  test('a health route of @nestjs/terminus answers 200 with figures, and 503 while the queue is full', async t => {
    const held = new Held()
    const routes = controllerOf(
      {
        health: (pools, health) => health.check([() => pools.check('work')]),
        held: (_pools, _health, pool) => pool.run(held.words, { name: 'held' }),
      },
      [indicator, terminus, InjectPool()],
    )
    const { url, pool } = await serveNest(t, {
      imports: [PoolModule.forRoot({ ...oneWorker, maxQueue: 1 }), TerminusModule.forRoot({ logger: false })],
      controllers: [routes],
    })
    const health = async () => {
      const answer = await fetch(`${url}/health`)
      const { status, details } = await answer.json()
      return [answer.status, status, details.work.status, details.work.waiting]
    }
    assert.deepEqual(await health(), [200, 'ok', 'up', 0])
    const busy = [fetch(`${url}/held`)]
    await held.starts()
    busy.push(fetch(`${url}/held`))
    await until(() => pool.needsDrain)
    assert.deepEqual(await health(), [503, 'error', 'down', 1])
    held.openGate()
    for (const answer of busy) assert.equal((await answer).status, 200)
    assert.deepEqual(await health(), [200, 'ok', 'up', 0])
  })

  test('check() reports a named pool without @nestjs/terminus, and down after its close()', async t => {
    const images = PoolModule.forFeature({ ...oneWorker, as: 'images' })
    const app = await openNest(t, { imports: [PoolModule.forRoot(oneWorker), images] })
    const { images: told } = app
      .get(PoolHealthIndicator, { strict: false })
      .check('images', { pool: 'images' })
    assert.deepEqual([told.status, told.waiting, told.inFlight], ['up', 0, 0])
    await app.get(getPoolToken('images'), { strict: false }).close()
    const afterClose = () => app.get(PoolHealthIndicator, { strict: false }).check('x', { pool: 'images' })
    // With @nestjs/terminus 10, an indicator that is down throws.
    if (Number(terminusVersion.split('.')[0]) < 11)
      assert.throws(afterClose, ({ causes }) => causes.x.status === 'down')
    else assert.equal(afterClose().x.status, 'down')
  })
})
