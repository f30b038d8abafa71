// What a user may say of a pool, and what it becomes.
import assert from 'node:assert/strict'
import sea from 'node:sea'
import { afterEach, describe, test } from 'node:test'
import { SHARE_ENV } from 'node:worker_threads'
import { InvalidOptionError } from '../../shared/errors/pool-errors.js'
import { FifoQueue } from '../queue/fifo-queue.js'
import { FixedQueue } from '../queue/fixed-queue.js'
import { type PoolOptions, type PoolSettings, resolveOptions } from './options.js'

const resolve = (options?: object): PoolSettings => resolveOptions(options)

function refusal(options: unknown): InvalidOptionError {
  try {
    resolveOptions(options)
  } catch (error) {
    assert.ok(error instanceof InvalidOptionError, `threw ${String(error)}`)
    return error
  }
  assert.fail(`accepted ${JSON.stringify(options)}`)
}

class Mine extends Error {}

/** Of every option: values that are right, and values that are not. `null` stands for nothing that was said. */
const judged: Record<keyof PoolOptions, { right: unknown[]; wrong: unknown[] }> = {
  filename: {
    right: ['/handler.js', new URL('file:///handler.js'), 'typescript', null],
    wrong: [1, {}, '', './x.js', 'fs'],
  },
  name: { right: ['work', '__proto__'], wrong: ['', 1, null, {}] },
  minThreads: {
    right: [0, 1, 4096],
    wrong: [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 4097, '1', null, 1n],
  },
  maxThreads: {
    right: [1, 4096],
    wrong: [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 4097, '1', null],
  },
  processes: { right: [1, 2, 4096], wrong: [0, -1, 1.5, Number.POSITIVE_INFINITY, 4097, '2', null] },
  idleTimeout: { right: [0, 0.5, 1e9, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null, true] },
  maxQueue: {
    right: [0, 1, Number.POSITIVE_INFINITY, 'auto'],
    wrong: [-1, 1.5, Number.NaN, Number.NEGATIVE_INFINITY, 'Auto', '1', null],
  },
  concurrentTasksPerWorker: {
    right: [1, 65_536],
    wrong: [0, -1, 1.5, 65_537, Number.POSITIVE_INFINITY, '1', null],
  },
  resourceLimits: { right: [{}, { maxOldGenerationSizeMb: 64 }], wrong: [1, null, [], 'much', () => {}] },
  env: { right: [{}, { A: '1' }, SHARE_ENV], wrong: [1, null, [], 'A=1', Symbol('other')] },
  argv: { right: [[], ['--a', 1]], wrong: ['--a', 1, {}, null] },
  execArgv: { right: [[], ['--no-warnings']], wrong: ['--a', [1], {}, null] },
  workerData: { right: [0, null, 'x', {}, false], wrong: [] },
  niceIncrement: {
    right: [0, 19],
    wrong: [1.5, Number.NaN, '1', null, ...(process.platform === 'win32' ? [] : [-1])],
  },
  trackUnmanagedFds: { right: [true, false], wrong: [1, 'true', null] },
  timeout: { right: [0.5, 1, Number.POSITIVE_INFINITY], wrong: [0, -1, Number.NaN, '1', null] },
  queueTimeout: { right: [0, 1, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null] },
  cancelGrace: { right: [0, 1, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null] },
  context: { right: [true, false], wrong: [1, null, 'no'] },
  closeTimeout: { right: [0, 0.5, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null] },
  errorClasses: {
    right: [
      [],
      [class Mine extends Error {}],
      [class A extends TypeError {}, class B extends AggregateError {}],
    ],
    wrong: [
      Error,
      [class {}],
      [{}],
      [null],
      [class extends Error {}],
      [TypeError],
      [Mine, Mine],
      { Mine },
      null,
    ],
  },
  callerStack: { right: [true, false], wrong: [1, 'true', null] },
  loadBalancer: { right: [() => null], wrong: [1, {}, 'least-busy', null] },
  queue: {
    right: [new FifoQueue(), { size: 0, push() {}, shift() {}, remove() {} }],
    wrong: [
      1,
      null,
      [],
      {},
      { push() {}, shift() {}, remove() {} },
      { size: 0, push() {}, shift() {} },
      FifoQueue,
    ],
  },
  recordTiming: { right: [true, false], wrong: [1, 'true', null] },
  worthWarnings: { right: [true, false], wrong: [1, 'true', null] },
  workerHistogram: { right: [true, false], wrong: [0, 'false', null] },
  spin: { right: [true, false], wrong: [1, 'false', null] },
  lane: { right: [true, false], wrong: [1, 'false', null] },
  maxTasksPerWorker: {
    right: [1, 1e6, Number.POSITIVE_INFINITY],
    wrong: [0, -1, 1.5, Number.NaN, '1', null],
  },
  maxWorkerAge: { right: [0.5, 1e9, Number.POSITIVE_INFINITY], wrong: [0, -1, Number.NaN, '1', null] },
  maxWorkerMemory: { right: [2 ** 22, Number.POSITIVE_INFINITY], wrong: [0, 512, Number.NaN, '1g', null] },
  teardownTimeout: { right: [0, 1, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null] },
  restart: {
    right: [{}, { failures: 1, period: 1, pause: 1 }, { pause: undefined }],
    wrong: [1, null, [], true],
  },
  retry: { right: [{ attempts: 1 }, { attempts: 3, when: () => true }], wrong: [3, null, [], true] },
  backend: { right: ['thread', 'process', 'inline'], wrong: ['threads', 1, null, {}] },
}

const nested: [string, object, string][] = [
  ['failures of 0', { restart: { failures: 0 } }, 'restart.failures'],
  ['a period of 0', { restart: { period: 0 } }, 'restart.period'],
  ['a pause that is no number', { restart: { pause: '1s' } }, 'restart.pause'],
  ['an unknown name', { restart: { failurs: 1 } }, 'restart.failurs'],
  ['no attempts', { retry: {} }, 'retry.attempts'],
  ['attempts without end', { retry: { attempts: Number.POSITIVE_INFINITY } }, 'retry.attempts'],
  ['a when that is no function', { retry: { attempts: 2, when: true } }, 'retry.when'],
]
for (const [what, options, option] of nested) {
  test(`${option}: ${what} is refused, and the error names it`, () => {
    const error = refusal(options)
    assert.equal(error.option, option)
    assert.match(error.message, new RegExp(`'${option}'`))
  })
}

const say = (value: unknown) =>
  typeof value === 'object'
    ? JSON.stringify(value)
    : typeof value === 'function'
      ? 'a function'
      : String(value)

for (const [option, { right, wrong }] of Object.entries(judged)) {
  describe(`the option ${option}`, () => {
    for (const value of right) {
      test(`may be ${say(value)}`, () => {
        resolve({ [option]: value })
      })
    }
    for (const value of wrong) {
      test(`may not be ${say(value)}, and the error names it`, () => {
        const error = refusal({ [option]: value })
        assert.equal(error.option, option)
        assert.equal(error.code, 'ERR_LIDO_INVALID_OPTION')
        assert.match(error.message, new RegExp(`'${option}'`))
      })
    }
    test('given as undefined it is not given', () => {
      const { queue: one, ...given } = resolve({ [option]: undefined })
      const { queue: other, ...none } = resolve()
      assert.deepEqual(given, none)
      assert.equal(one.constructor, other.constructor)
    })
  })
}

describe('options together', () => {
  test('without any, everything has its default', () => {
    const settings = resolve()
    assert.equal(settings.filename, null)
    assert.equal(settings.name, 'default')
    assert.ok(settings.maxThreads >= 1)
    assert.equal(settings.minThreads, Math.max(1, Math.floor(settings.maxThreads / 2)))
    assert.equal(settings.idleTimeout, 30_000)
    assert.equal(settings.closeTimeout, 30_000)
    assert.equal(settings.cancelGrace, 100)
    assert.deepEqual([settings.timeout, settings.queueTimeout, settings.limits], [Infinity, Infinity, null])
    assert.equal(settings.maxQueue, Number.POSITIVE_INFINITY)
    assert.equal(settings.concurrentTasksPerWorker, 1)
    assert.equal(settings.loadBalancer, null)
    assert.equal(settings.recordTiming, true)
    assert.equal(settings.workerHistogram, false)
    assert.ok(settings.queue instanceof FifoQueue)
    assert.equal(settings.handler, null)
  })

  test('every pool has a queue of its own', () => {
    assert.notEqual(resolve().queue, resolve().queue)
  })

  test('a minimum above the maximum is impossible', () => {
    const error = refusal({ minThreads: 3, maxThreads: 2 })
    assert.equal(error.option, 'minThreads')
    assert.match(error.message, /\(3\).*'maxThreads' \(2\)/)
  })

  test('a minimum alone lifts the maximum, a maximum alone lowers the minimum', () => {
    assert.equal(resolve({ minThreads: 999 }).maxThreads, 999)
    assert.equal(resolve({ minThreads: 999 }).minThreads, 999)
    assert.deepEqual([resolve({ maxThreads: 1 }).minThreads, resolve({ maxThreads: 1 }).maxThreads], [1, 1])
    assert.equal(resolve({ minThreads: 0 }).minThreads, 0)
  })

  test('processes divide the cores, and what is said of threads goes first', () => {
    assert.deepEqual(
      [resolve({ processes: 4096 }).minThreads, resolve({ processes: 4096 }).maxThreads],
      [1, 1],
    )
    assert.equal(resolve({ processes: 4096 }).spinCores, 1)
    assert.equal(resolve({ processes: 4096, maxThreads: 7 }).maxThreads, 7)
    assert.equal(resolve({ processes: 1 }).maxThreads, resolve().maxThreads)
  })

  test("maxQueue 'auto' is the square of maxThreads", () => {
    assert.equal(resolve({ maxThreads: 7, maxQueue: 'auto' }).maxQueue, 49)
  })

  test('an unknown limit gets a hint', () => {
    const { message } = refusal({ resourceLimits: { maxOldGenerationSizeMB: 20 } })
    assert.match(message, /did you mean 'maxOldGenerationSizeMb'\?/)
  })

  test('a single executable has no workers that are processes, each of which would be the program again', t => {
    t.mock.method(sea, 'isSea', () => true)
    const { option, message } = refusal({ backend: 'process' })
    assert.equal(option, 'backend')
    assert.match(message, /'thread' or 'inline' in a single executable/)
    for (const backend of ['thread', 'inline']) assert.equal(resolve({ backend }).backend, backend)
  })

  test('a queue with a capacity lowers maxQueue to it, and never raises it', () => {
    assert.equal(resolve({ queue: new FixedQueue(5) }).maxQueue, 5)
    assert.equal(resolve({ queue: new FixedQueue(5), maxQueue: 9 }).maxQueue, 5)
    assert.equal(resolve({ queue: new FixedQueue(5), maxQueue: 3 }).maxQueue, 3)
  })

  test('the pool file and its name are what workers load first', () => {
    assert.deepEqual(resolve({ filename: '/handler.js', name: 'work' }).handler, {
      filename: '/handler.js',
      name: 'work',
    })
  })

  test('limits with which Node would end the process are refused by name', () => {
    for (const [limit, value] of [
      ['stackSizeMb', 0.5],
      ['stackSizeMb', 0],
      ['stackSizeMb', Number.POSITIVE_INFINITY],
      ['stackSizeMb', 1e300],
      ['codeRangeSizeMb', 1e9],
      ['maxOldGenerationSizeMb', 3],
      ['maxOldGenerationSizeMb', Number.NaN],
      ['maxYoungGenerationSizeMb', -1],
      ['codeRangeSizeMb', '8'],
    ] as const) {
      assert.equal(refusal({ resourceLimits: { [limit]: value } }).option, `resourceLimits.${limit}`)
    }
    resolve({
      resourceLimits: { stackSizeMb: 1, maxOldGenerationSizeMb: 4, maxYoungGenerationSizeMb: undefined },
    })
    resolve({
      resourceLimits: {
        codeRangeSizeMb: 1024,
        maxOldGenerationSizeMb: Infinity,
        maxYoungGenerationSizeMb: Infinity,
      },
    })
  })

  test('what workers are started with is handed on, and only what was given', () => {
    const env = { A: '1' }
    const { workerOptions } = resolve({
      env,
      argv: ['a'],
      execArgv: ['--b'],
      workerData: 0,
      trackUnmanagedFds: false,
    })
    assert.deepEqual(
      { ...workerOptions, name: undefined },
      {
        env,
        argv: ['a'],
        execArgv: ['--b'],
        workerData: 0,
        trackUnmanagedFds: false,
        eval: false,
        name: undefined,
      },
    )
    for (const absent of [
      'env',
      'argv',
      'execArgv',
      'workerData',
      'resourceLimits',
      'trackUnmanagedFds',
      'stdout',
    ]) {
      assert.equal(absent in resolve().workerOptions, false, absent)
    }
    assert.equal(resolve({ env: SHARE_ENV }).workerOptions.env, SHARE_ENV)
  })
})

describe('names that do not exist', () => {
  test('are refused with the nearest right one', () => {
    for (const [given, meant] of [
      ['maxThread', 'maxThreads'],
      ['minthreads', 'minThreads'],
      ['idleTimeOut', 'idleTimeout'],
      ['file', 'filename'],
      ['maxqueue', 'maxQueue'],
    ]) {
      const error = refusal({ [given!]: 1 })
      assert.equal(error.option, given)
      assert.match(error.message, new RegExp(`There is no option '${given}' \\(given as 1\\)`))
      if (given !== 'file') assert.match(error.message, new RegExp(`Did you mean '${meant}'\\?`))
    }
  })

  test('without a near one, all right ones are listed', () => {
    const { message } = refusal({ completelyDifferent: true })
    for (const option of Object.keys(judged)) assert.ok(message.includes(option), option)
  })

  test('are refused also when they are members of every object', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) {
      const options = JSON.parse(`{ "${name}": { "minThreads": 0 } }`)
      assert.equal(refusal(options).option, name)
    }
  })
})

describe('only own properties are read', () => {
  const polluted = Object.prototype as Record<string, unknown>
  const dirt: Record<string, unknown> = {
    filename: '/etc/evil.js',
    name: '',
    minThreads: -1,
    maxThreads: 0,
    maxQueue: 'x',
    queue: {},
    loadBalancer: 1,
    env: { NODE_OPTIONS: '--require /etc/evil.js' },
    execArgv: ['--require', '/etc/evil.js'],
    workerData: 'evil',
    stackSizeMb: 0.1,
    maxOldGenerationSizeMb: 1,
    unknownOption: 1,
    deadline: 0,
    backend: 'inline',
    attempts: 3,
    when: () => true,
  }
  afterEach(() => {
    for (const key of Object.keys(dirt)) delete polluted[key]
  })

  for (const options of [undefined, {}, Object.create(null), { resourceLimits: {} }] as (
    | object
    | undefined
  )[]) {
    test(`a polluted prototype changes nothing (${options === undefined ? 'no options' : JSON.stringify(options)})`, () => {
      const clean = resolve(options)
      Object.assign(polluted, dirt)
      const settings = resolve(options)
      assert.equal(settings.filename, null)
      assert.equal(settings.minThreads, clean.minThreads)
      assert.equal(settings.maxThreads, clean.maxThreads)
      assert.equal(settings.maxQueue, Number.POSITIVE_INFINITY)
      assert.equal(settings.loadBalancer, null)
      for (const key of ['env', 'execArgv', 'workerData'])
        assert.equal(settings.workerOptions[key], undefined, key)
      const limits = settings.workerOptions.resourceLimits as Record<string, unknown> | undefined
      assert.equal(limits?.stackSizeMb, undefined)
    })
  }

  test('of options within options too, and no pool takes a deadline', () => {
    const options = () => resolve({ filename: '/pool.js', backend: 'process', resourceLimits: {}, retry })
    const retry = { attempts: 2 }
    const clean = options()
    Object.assign(polluted, dirt)
    const { limits, retry: resolved, workerOptions } = options()
    assert.deepEqual({ ...resolved }, { attempts: 2, when: null })
    assert.equal(limits, null)
    assert.deepEqual({ ...workerOptions }, { ...clean.workerOptions })
    assert.equal(refusal({ retry: {} }).option, 'retry.attempts')
  })

  test('an object without a prototype is as good as any', () => {
    const options = Object.assign(Object.create(null), { minThreads: 0, maxThreads: 3 })
    assert.equal(resolve(options).maxThreads, 3)
  })

  test('what an object inherits is not said by the user', () => {
    assert.equal(resolve(Object.create({ maxThreads: 0, filename: '/etc/evil.js' })).filename, null)
  })

  test('options that are no object are refused', () => {
    for (const options of [null, 1, 'x', true, [], () => {}, Symbol('x')]) {
      assert.equal(refusal(options).option, 'options')
    }
  })
})
