// The options of pools and calls: accepted values, derived settings, and the tables of the reference page.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import sea from 'node:sea'
import { afterEach, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { SHARE_ENV } from 'node:worker_threads'
import type { RunOptions } from '../api/call-options.js'
import type { PoolOptions } from '../api/pool-options.js'
import { InvalidOptionError, InvalidTaskError } from '../shared/errors/pool-errors.js'
import { move } from '../shared/messages/move.js'
import type { OptionRule } from '../shared/options/option-table.js'
import { broadcastTable } from './calls/broadcast.js'
import { runTable } from './calls/call-options.js'
import { plainTerms, resolveRun } from './calls/call-terms.js'
import { noFunctions } from './calls/exchange.js'
import { streamTable, transformTable } from './calls/stream-options.js'
import { type CoreSettings, resolveOptions, resolveResize } from './options/settings.js'
import { poolReplacements, poolTable } from './options/table.js'
import { FifoQueue } from './queue/fifo-queue.js'

const resolve = (options?: object): CoreSettings => resolveOptions(options)

/** On Windows, the URL of a file needs a drive. */
const handlerUrl = pathToFileURL('/handler.js')
const mainUrl = pathToFileURL('/main.js')

function refusal(options: unknown): InvalidOptionError {
  try {
    resolveOptions(options as PoolOptions)
  } catch (error) {
    assert.ok(error instanceof InvalidOptionError, `threw ${String(error)}`)
    return error
  }
  assert.fail(`accepted ${JSON.stringify(options)}`)
}

class Mine extends Error {}

/** Values that each option accepts, and values that it refuses. */
const judged: Record<keyof PoolOptions, { right: unknown[]; wrong: unknown[] }> = {
  filename: {
    right: ['/handler.js', handlerUrl, 'typescript', null],
    wrong: [1, {}, '', './x.js', 'fs'],
  },
  // With the default backend every module is refused. See the test of the option below.
  module: { right: [], wrong: [1, null, [], 'work', Promise.resolve({}), {}] },
  base: {
    right: ['/main.js', mainUrl, mainUrl.href, null],
    wrong: [1, {}, '', './main.js', 'https://example.org/main.js'],
  },
  name: { right: ['work', '__proto__'], wrong: ['', 1, null, {}] },
  minWorkers: {
    right: [0, 1, 4096],
    wrong: [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 4097, '1', null, 1n],
  },
  maxWorkers: {
    right: [1, 4096],
    wrong: [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 4097, '1', null],
  },
  clusterSize: { right: [1, 2, 4096], wrong: [0, -1, 1.5, Number.POSITIVE_INFINITY, 4097, '2', null] },
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
  output: { right: ['inherit', 'pipe'], wrong: [true, 'ignore', null] },
  timeout: { right: [0.5, 1, Number.POSITIVE_INFINITY], wrong: [0, -1, Number.NaN, '1', null] },
  queueTimeout: { right: [0, 1, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null] },
  cancelGrace: { right: [0, 1, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null] },
  label: { right: ['images'], wrong: ['', 1, null] },
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
  groups: {
    right: [{}, { limit: 1 }, { limit: Number.POSITIVE_INFINITY }, { weight: () => 1 }],
    wrong: [null, 1, 'x'],
  },
  aging: { right: [1, 10_000, Number.POSITIVE_INFINITY], wrong: [0, -1, '1', Number.NaN, null] },
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
  performanceWarnings: { right: [true, false], wrong: [1, 'true', null] },
  workerHistogram: { right: [true, false], wrong: [0, 'false', null] },
  busyWait: { right: ['auto', true, false], wrong: [1, 'false', null] },
  transport: { right: ['shared-memory', 'messages'], wrong: [1, true, 'lane', null] },
  maxTasksPerWorker: {
    right: [1, 1e6, Number.POSITIVE_INFINITY],
    wrong: [0, -1, 1.5, Number.NaN, '1', null],
  },
  maxWorkerAge: { right: [0.5, 1e9, Number.POSITIVE_INFINITY], wrong: [0, -1, Number.NaN, '1', null] },
  maxWorkerMemoryMb: { right: [4, 64.5, Number.POSITIVE_INFINITY], wrong: [0, 3.9, Number.NaN, '1g', null] },
  setupTimeout: { right: [0, 1, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null] },
  teardownTimeout: { right: [0, 1, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null] },
  restart: {
    right: [{}, { failures: 1, period: 1, pause: 1 }, { pause: undefined }],
    wrong: [1, null, [], true],
  },
  retry: { right: [{ attempts: 1 }, { attempts: 3, when: () => true }], wrong: [3, null, [], true] },
  backend: { right: ['thread', 'process', 'inline'], wrong: ['threads', 1, null, {}] },
}

const nested: [object, string][] = [
  [{ restart: { failures: 0 } }, 'restart.failures'],
  [{ restart: { period: 0 } }, 'restart.period'],
  [{ restart: { pause: '1s' } }, 'restart.pause'],
  [{ restart: { failurs: 1 } }, 'restart.failurs'],
  [{ retry: {} }, 'retry.attempts'],
  [{ retry: { attempts: Number.POSITIVE_INFINITY } }, 'retry.attempts'],
  [{ retry: { attempts: 2, when: true } }, 'retry.when'],
]

for (const [option, { right, wrong }] of Object.entries(judged)) {
  test(`the pool option ${option} accepts valid values and refuses invalid values by name`, () => {
    for (const value of right) resolve({ [option]: value })
    for (const value of wrong) {
      const error = refusal({ [option]: value })
      assert.equal(error.option, option)
      assert.equal(error.code, 'ERR_LIDO_INVALID_OPTION')
      assert.match(error.message, new RegExp(`'${option}'`))
    }
    const { queue: one, options: _, ...given } = resolve({ [option]: undefined })
    const { queue: other, options: __, ...none } = resolve()
    assert.deepEqual(given, none, 'undefined counts as not given')
    assert.equal(one.constructor, other.constructor)
  })
}

test('the error for a nested option names its path', () => {
  for (const [options, option] of nested) {
    const error = refusal(options)
    assert.equal(error.option, option)
    assert.match(error.message, new RegExp(`'${option}'`))
  }
})

describe('resolveOptions()', () => {
  test('every setting has its default when no options are given', () => {
    const settings = resolve()
    assert.equal(settings.filename, undefined)
    assert.equal(settings.name, 'default')
    assert.ok(settings.size.maxWorkers >= 1)
    assert.equal(settings.size.minWorkers, Math.max(1, Math.floor(settings.size.maxWorkers / 2)))
    assert.equal(settings.idleTimeout, 30_000)
    assert.equal(settings.closeTimeout, 30_000)
    assert.equal(settings.cancelGrace, 100)
    assert.deepEqual([settings.timeout, settings.queueTimeout, settings.limits], [Infinity, Infinity, null])
    assert.equal(settings.maxQueue, Number.POSITIVE_INFINITY)
    assert.equal(settings.concurrentTasksPerWorker, 1)
    assert.equal(settings.loadBalancer, undefined)
    assert.equal(settings.recordTiming, true)
    assert.equal(settings.workerHistogram, false)
    assert.ok(settings.queue instanceof FifoQueue)
    assert.equal(settings.handler, null)
  })

  test('every pool gets its own queue', () => {
    assert.notEqual(resolve().queue, resolve().queue)
  })

  test('minWorkers above maxWorkers is refused', () => {
    const error = refusal({ minWorkers: 3, maxWorkers: 2 })
    assert.equal(error.option, 'minWorkers')
    assert.match(error.message, /\(3\).*'maxWorkers' \(2\)/)
  })

  test('minWorkers alone raises maxWorkers, and maxWorkers alone lowers minWorkers', () => {
    assert.equal(resolve({ minWorkers: 999 }).size.maxWorkers, 999)
    assert.equal(resolve({ minWorkers: 999 }).size.minWorkers, 999)
    assert.deepEqual(
      [resolve({ maxWorkers: 1 }).size.minWorkers, resolve({ maxWorkers: 1 }).size.maxWorkers],
      [1, 1],
    )
    assert.equal(resolve({ minWorkers: 0 }).size.minWorkers, 0)
  })

  test('clusterSize divides the cores, unless maxWorkers is given', () => {
    assert.deepEqual(
      [resolve({ clusterSize: 4096 }).size.minWorkers, resolve({ clusterSize: 4096 }).size.maxWorkers],
      [1, 1],
    )
    assert.equal(resolve({ clusterSize: 4096 }).spinCores, 0)
    assert.equal(resolve({ clusterSize: 4096, maxWorkers: 7 }).size.maxWorkers, 7)
    assert.equal(resolve({ clusterSize: 1 }).size.maxWorkers, resolve().size.maxWorkers)
  })

  test("maxQueue 'auto' is the square of maxWorkers", () => {
    assert.equal(resolve({ maxWorkers: 7, maxQueue: 'auto' }).maxQueue, 49)
  })

  test('the error for an unknown resource limit suggests the nearest name', () => {
    const { message } = refusal({ resourceLimits: { maxOldGenerationSizeMB: 20 } })
    assert.match(message, /Did you mean 'resourceLimits\.maxOldGenerationSizeMb'\?/)
  })

  test("the backend 'process' is refused in a single executable application", t => {
    t.mock.method(sea, 'isSea', () => true)
    const { option, message } = refusal({ backend: 'process' })
    assert.equal(option, 'backend')
    assert.match(message, /'thread' or 'inline' in a single executable/)
    for (const backend of ['thread', 'inline']) assert.equal(resolve({ backend }).backend, backend)
  })

  test('a queue with a capacity lowers maxQueue to its capacity, and never raises maxQueue', () => {
    const queue = { size: 0, capacity: 5, push() {}, shift: () => null, remove() {} }
    assert.equal(resolve({ queue }).maxQueue, 5)
    assert.equal(resolve({ queue, maxQueue: 9 }).maxQueue, 5)
    assert.equal(resolve({ queue, maxQueue: 3 }).maxQueue, 3)
  })

  test('filename and name become the handler of the pool', () => {
    assert.deepEqual(resolve({ filename: '/handler.js', name: 'work' }).handler, {
      filename: '/handler.js',
      name: 'work',
    })
  })

  test('the module of an inline pool becomes its handler', () => {
    const module = { work() {} }
    const settings = resolve({ backend: 'inline', module, name: 'work' })
    assert.equal(settings.module, module)
    assert.deepEqual(settings.handler, { filename: "the option 'module'", name: 'work' })
  })

  test('resource limits that would crash Node are refused by name', () => {
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

  test('workers get the given worker options and no others', () => {
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
        env: Object.assign(Object.create(null), env),
        argv: ['a'],
        execArgv: ['--b'],
        workerData: 0,
        trackUnmanagedFds: false,
        eval: false,
        name: undefined,
        inheritsFlags: false,
      },
    )
    for (const absent of ['argv', 'execArgv', 'workerData', 'resourceLimits', 'stdout']) {
      assert.equal(absent in resolve().workerOptions, false, absent)
    }
    assert.equal(resolve({ env: SHARE_ENV }).workerOptions.env, SHARE_ENV)
  })
})

describe('unknown options of a pool', () => {
  test('the error for an unknown option suggests the nearest name', () => {
    for (const [given, meant] of [
      ['maxWorker', 'maxWorkers'],
      ['minworker', 'minWorkers'],
      ['idleTimeOut', 'idleTimeout'],
      ['file', 'filename'],
      ['maxqueue', 'maxQueue'],
    ]) {
      const error = refusal({ [given!]: 1 })
      assert.equal(error.option, given)
      assert.match(error.message, new RegExp(`Unknown option '${given}' for`))
      if (given !== 'file') assert.match(error.message, new RegExp(`Did you mean '${meant}'\\?`))
    }
  })

  test('the error for an unknown option lists all options when no name is near', () => {
    const { message } = refusal({ completelyDifferent: true })
    for (const option of Object.keys(judged)) assert.ok(message.includes(option), option)
  })

  test('names of members of Object.prototype are refused as unknown options', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__']) {
      const options = JSON.parse(`{ "${name}": { "minWorkers": 0 } }`)
      assert.equal(refusal(options).option, name)
    }
  })
})

describe('inherited properties of pool options', () => {
  const polluted = Object.prototype as Record<string, unknown>
  const dirt: Record<string, unknown> = {
    filename: '/etc/evil.js',
    name: '',
    minWorkers: -1,
    maxWorkers: 0,
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
    test(`properties of Object.prototype do not change the settings of the options ${inspect(options)}`, () => {
      const clean = resolve(options)
      Object.assign(polluted, dirt)
      const settings = resolve(options)
      assert.equal(settings.filename, undefined)
      assert.equal(settings.size.minWorkers, clean.size.minWorkers)
      assert.equal(settings.size.maxWorkers, clean.size.maxWorkers)
      assert.equal(settings.maxQueue, Number.POSITIVE_INFINITY)
      assert.equal(settings.loadBalancer, undefined)
      for (const key of ['execArgv', 'workerData']) assert.equal(settings.workerOptions[key], undefined, key)
      assert.deepEqual(settings.workerOptions.env, clean.workerOptions.env)
      const limits = settings.workerOptions.resourceLimits as Record<string, unknown> | undefined
      assert.equal(limits?.stackSizeMb, undefined)
    })
  }

  test('properties of Object.prototype do not change nested options and set no time limits', () => {
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

  test('an options object without a prototype is accepted', () => {
    const options = Object.assign(Object.create(null), { minWorkers: 0, maxWorkers: 3 })
    assert.equal(resolve(options).size.maxWorkers, 3)
  })

  test('properties that the options object inherits are ignored', () => {
    assert.equal(resolve(Object.create({ maxWorkers: 0, filename: '/etc/evil.js' })).filename, undefined)
  })

  test('pool options that are not an object are refused', () => {
    for (const options of [null, 1, 'x', true, [], () => {}, Symbol('x')]) {
      assert.equal(refusal(options).option, 'options')
    }
  })
})

test('the error for an option of another pool or an earlier version says what to do', () => {
  for (const [name, advice] of Object.entries(poolReplacements)) {
    assert.equal(name in poolTable.rules, false)
    assert.ok(refusal({ [name]: 1 }).message.endsWith(advice), name)
    const [, replacement] = /^Use '(\w+)'/.exec(advice) ?? []
    if (replacement !== undefined) assert.ok(replacement in poolTable.rules, replacement)
  }
})

describe('pool.resize()', () => {
  const present = { minWorkers: 2, maxWorkers: 4 }
  test('a given limit moves the other limit when the two would contradict each other', () => {
    for (const [given, minWorkers, maxWorkers] of [
      [{}, 2, 4],
      [{ maxWorkers: 9 }, 2, 9],
      [{ maxWorkers: 1 }, 1, 1],
      [{ minWorkers: 9 }, 9, 9],
      [{ minWorkers: 0, maxWorkers: 1 }, 0, 1],
    ] as const)
      assert.deepEqual(resolveResize(given, present), { minWorkers, maxWorkers })
  })

  test('resize() checks values like the constructor', () => {
    for (const [given, option] of [
      [{ maxWorkers: 0 }, 'maxWorkers'],
      [{ minWorkers: 1.5 }, 'minWorkers'],
      [{ minWorkers: 3, maxWorkers: 2 }, 'minWorkers'],
      [{ maxThreads: 3 }, 'maxThreads'],
      [3, 'options'],
      [undefined, 'options'],
    ] as const)
      assert.throws(() => resolveResize(given, present), { code: 'ERR_LIDO_INVALID_OPTION', option })
  })
})

const pool = resolveOptions({ filename: '/pool.js', name: 'work' })
const resolveCall = (options?: unknown, payload?: unknown, settings = pool) =>
  resolveRun(payload, options as RunOptions, settings, plainTerms(settings))

function callRefusal(options: unknown, settings = pool): InvalidTaskError {
  try {
    resolveCall(options, undefined, settings)
  } catch (error) {
    assert.ok(error instanceof InvalidTaskError, `threw ${String(error)}`)
    return error
  }
  assert.fail('accepted')
}

const { signal } = new AbortController()
const judgedCalls: Record<keyof RunOptions, { right: unknown[]; wrong: unknown[] }> = {
  filename: {
    right: ['/handler.js', handlerUrl.href, handlerUrl, null],
    wrong: [1, '', './x.js', 'typescript', 'fs', 'node:fs', 'data:text/javascript,1', {}],
  },
  name: { right: ['other', '__proto__', null], wrong: ['', 1, {}] },
  signal: {
    right: [signal, null],
    wrong: [1, 'abort', {}, new AbortController(), { addEventListener() {} }],
  },
  timeout: {
    right: [0.5, 1, Number.POSITIVE_INFINITY],
    wrong: [0, -1, Number.NaN, '1', null, 1n, new Date()],
  },
  queueTimeout: { right: [0, 1, Number.POSITIVE_INFINITY], wrong: [-1, Number.NaN, '1', null, {}] },
  deadline: {
    right: [new Date(), 0, -1, Date.now() + 0.5, Number.POSITIVE_INFINITY],
    wrong: [new Date(Number.NaN), Number.NaN, '2030-01-01', null, {}],
  },
  exclusive: { right: [true, false], wrong: [1, null, 'yes'] },
  inherit: { right: [true, false], wrong: [1, null, 'yes'] },
  transferList: { right: [[], [new ArrayBuffer(1)]], wrong: [1, {}, new ArrayBuffer(1), null, 'x'] },
  priority: { right: [0, -1, 1.5, Number.POSITIVE_INFINITY], wrong: ['1', Number.NaN, null, 1n, {}] },
  key: { right: ['doc-1', ' '], wrong: ['', 1, null, {}] },
  keyOrder: { right: [], wrong: ['fifo', null, true, 'none'] },
  group: { right: [], wrong: ['', 1, null, {}, 'tenant-7'] },
  queueOptions: { right: [null, 1, {}, 'x'], wrong: [] },
  retry: { right: [{ attempts: 1 }, { attempts: 2, when: () => true }], wrong: [2, null, [], true] },
  functions: { right: [{}, { lookup: () => 1 }], wrong: [1, null, () => 1, { lookup: 1 }] },
  onProgress: { right: [() => {}], wrong: [1, 'x', null, {}] },
}

for (const [option, { right, wrong }] of Object.entries(judgedCalls)) {
  test(`the option ${option} of run() accepts valid values and refuses invalid values by name`, () => {
    for (const value of right) resolveCall({ [option]: value })
    for (const value of wrong) {
      const error = callRefusal({ [option]: value })
      assert.equal(error.option, option)
      assert.equal(error.code, 'ERR_LIDO_INVALID_TASK')
    }
    assert.deepEqual(resolveCall({ [option]: undefined }), resolveCall())
  })
}

describe('resolveRun()', () => {
  test('a call without options uses the settings of the pool', () => {
    assert.deepEqual(resolveCall(), {
      payload: undefined,
      terms: {
        handler: { filename: '/pool.js', name: 'work' },
        transferList: [],
        signal: null,
        limits: null,
        isExclusive: false,
        priority: 0,
        key: null,
        isSerial: false,
        group: null,
        queueOptions: undefined,
        retry: null,
        exchange: noFunctions,
        workerId: 0,
      },
    })
  })

  test('calls without options share one terms object', () => {
    const plain = plainTerms(pool)
    for (const payload of [1, {}]) assert.equal(resolveRun(payload, undefined, pool, plain).terms, plain)
  })

  test('calls without time limits share the limits object of the pool', () => {
    const limited = resolveOptions({ filename: '/pool.js', timeout: 5 })
    assert.deepEqual(limited.limits, { timeoutMs: 5, queueTimeoutMs: Infinity, deadline: Infinity })
    for (const options of [undefined, {}, { priority: 1 }, { timeout: undefined }]) {
      assert.equal(resolveCall(options, undefined, limited).terms.limits, limited.limits)
    }
  })

  test('a call overrides each time limit of the pool separately, and Infinity removes a limit', () => {
    const limited = resolveOptions({ filename: '/pool.js', timeout: 5, queueTimeout: 6 })
    const limitsOf = (options: RunOptions) => resolveCall(options, undefined, limited).terms.limits
    assert.deepEqual(limitsOf({ timeout: 7 }), { timeoutMs: 7, queueTimeoutMs: 6, deadline: Infinity })
    assert.deepEqual(limitsOf({ timeout: Infinity, deadline: new Date(9) }), {
      timeoutMs: Infinity,
      queueTimeoutMs: 6,
      deadline: 9,
    })
    assert.equal(limitsOf({ timeout: Infinity, queueTimeout: Infinity }), null)
  })

  test('a call is refused when neither the pool nor the call has a filename', () => {
    assert.match(
      callRefusal(undefined, resolveOptions({})).message,
      /Give 'module' or 'filename' to the pool, or 'filename' to run\(\)/,
    )
  })

  test('call options that are not an object are refused', () => {
    for (const options of [null, 1, 'x', () => {}]) assert.equal(callRefusal(options).option, 'options')
  })

  test('an unknown call option is refused, and the error suggests the nearest name', () => {
    assert.match(callRefusal({ singal: signal }).message, /Unknown option 'singal'.*Did you mean 'signal'/)
    assert.match(callRefusal({ patience: 1 }).message, /Use one of name, filename/)
    for (const name of ['constructor', '__proto__']) {
      assert.equal(callRefusal(JSON.parse(`{ "${name}": 1 }`)).option, name)
    }
  })

  test('a payload marked by move() is unwrapped, and its buffer joins the transfer list', () => {
    const buffer = new ArrayBuffer(8)
    const other = new ArrayBuffer(4)
    const view = new Uint8Array(buffer)
    const { payload, terms } = resolveCall({ transferList: [other] }, move(view))
    assert.equal(payload, view)
    assert.deepEqual(terms.transferList, [other, buffer])
  })

  test('a call does not change the transferList of its caller', () => {
    const list: ArrayBuffer[] = []
    resolveCall({ transferList: list }, move(new ArrayBuffer(8)))
    assert.deepEqual(list, [])
  })
})

describe('inherited properties of call options', () => {
  const polluted = Object.prototype as Record<string, unknown>
  afterEach(() => {
    for (const key of Object.keys(judgedCalls)) delete polluted[key]
  })

  for (const options of [undefined, {}, { priority: 1 }]) {
    test(`properties of Object.prototype do not change a call with the options ${inspect(options)}`, () => {
      Object.assign(polluted, { filename: '/etc/evil.js', name: 'evil', signal: 1, transferList: 1 })
      const { handler, transferList } = resolveCall(options).terms
      assert.deepEqual(handler, { filename: '/pool.js', name: 'work' })
      assert.deepEqual(transferList, [])
    })
  }
})

const reference = readFileSync(new URL('../../../../docs/reference/pool.md', import.meta.url), 'utf8')
const HEAD = '| option | type | default | meaning |\n|---|---|---|---|\n'

/** The rows of the option table in a section of the page: names and defaults. */
function rowsIn(heading: string): [string, string][] {
  const section = reference.split(`\n## ${heading}`)[1]!.split('\n## ')[0]!
  const rows = section.split(HEAD)[1]!.split('\n\n')[0]!.split('\n')
  return rows.map(row => {
    const [, name, , text] = row.split(/(?<!\\) \| |^\| | \|$/)
    return [name!.replaceAll('`', ''), text!]
  })
}

/** A number, a boolean or a text stands in the page as it is. */
function assertListed(heading: string, rules: Record<string, OptionRule<unknown>>): void {
  const rows = rowsIn(heading)
  assert.deepEqual(
    rows.map(([name]) => name),
    Object.keys(rules),
  )
  for (const [name, text] of rows) {
    const value = rules[name]!.default
    if (!['number', 'boolean', 'string'].includes(typeof value)) continue
    const shown = text.replaceAll(/[`',]/g, '')
    assert.equal(shown, String(value), `the default of ${name}`)
  }
}

test('the reference page lists every option with its default, and no other', () => {
  for (const [heading, { rules }] of [
    ['Options', poolTable],
    ['`pool.run(', runTable],
    ['`pool.broadcast(', broadcastTable],
  ] as const) {
    assertListed(heading, rules)
  }
})

test('the reference page lists the options of streams that run() does not have', () => {
  for (const [heading, { rules }, leftOut] of [
    ['`pool.stream(', streamTable, ['retry']],
    ['`pool.transform(', transformTable, ['transferList', 'retry']],
  ] as const) {
    const own = Object.entries(rules).filter(([name]) => !(name in runTable.rules))
    assertListed(heading, Object.fromEntries(own))
    const missing = Object.keys(runTable.rules).filter(name => !(name in rules))
    assert.deepEqual(missing, leftOut)
  }
})
