// What a user may say of one call.
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { InvalidTaskError } from '../../shared/errors/pool-errors.js'
import { move } from '../../shared/messages/move.js'
import { resolveOptions } from './options.js'
import { plainTerms, type RunOptions, resolveRun } from './run-options.js'

const pool = resolveOptions({ filename: '/pool.js', name: 'work' })
const resolve = (options?: unknown, payload?: unknown, settings = pool) =>
  resolveRun(payload, options as RunOptions, settings, plainTerms(settings))

function refusal(options: unknown, settings = pool): InvalidTaskError {
  try {
    resolve(options, undefined, settings)
  } catch (error) {
    assert.ok(error instanceof InvalidTaskError, `threw ${String(error)}`)
    return error
  }
  assert.fail('accepted')
}

const { signal } = new AbortController()
const judged: Record<keyof RunOptions, { right: unknown[]; wrong: unknown[] }> = {
  filename: {
    right: ['/handler.js', 'file:///handler.js', new URL('file:///handler.js'), null],
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
  transferList: { right: [[], [new ArrayBuffer(1)]], wrong: [1, {}, new ArrayBuffer(1), null, 'x'] },
  priority: { right: [0, -1, 1.5, Number.POSITIVE_INFINITY], wrong: ['1', Number.NaN, null, 1n, {}] },
  queueOptions: { right: [null, 1, {}, 'x'], wrong: [] },
  retry: { right: [{ attempts: 1 }, { attempts: 2, when: () => true }], wrong: [2, null, [], true] },
}

for (const [option, { right, wrong }] of Object.entries(judged)) {
  describe(`the option ${option} of a call`, () => {
    right.forEach((value, index) => {
      test(`right value ${index + 1}: ${String(value)}`, () => {
        resolve({ [option]: value })
      })
    })
    wrong.forEach((value, index) => {
      test(`wrong value ${index + 1}: ${String(value)}, and the error names the option`, () => {
        const error = refusal({ [option]: value })
        assert.equal(error.option, option)
        assert.equal(error.code, 'ERR_LIDO_INVALID_TASK')
      })
    })
    test('given as undefined it is not given', () => {
      assert.deepEqual(resolve({ [option]: undefined }), resolve())
    })
  })
}

describe('a call', () => {
  test('without options runs what the pool says', () => {
    assert.deepEqual(resolve(), {
      payload: undefined,
      terms: {
        handler: { filename: '/pool.js', name: 'work' },
        transferList: [],
        signal: null,
        limits: null,
        isExclusive: false,
        priority: 0,
        queueOptions: undefined,
        retry: null,
      },
    })
  })

  test('without options has the same terms as the next one', () => {
    const plain = plainTerms(pool)
    for (const payload of [1, {}]) assert.equal(resolveRun(payload, undefined, pool, plain).terms, plain)
  })

  test('that says nothing of time has the limits of the pool, one object for all such calls', () => {
    const limited = resolveOptions({ filename: '/pool.js', timeout: 5 })
    assert.deepEqual(limited.limits, { timeoutMs: 5, queueTimeoutMs: Infinity, deadline: Infinity })
    for (const options of [undefined, {}, { priority: 1 }, { timeout: undefined }]) {
      assert.equal(resolve(options, undefined, limited).terms.limits, limited.limits)
    }
  })

  test('sets each limit by itself, and Infinity takes away one of the pool', () => {
    const limited = resolveOptions({ filename: '/pool.js', timeout: 5, queueTimeout: 6 })
    const limitsOf = (options: RunOptions) => resolve(options, undefined, limited).terms.limits
    assert.deepEqual(limitsOf({ timeout: 7 }), { timeoutMs: 7, queueTimeoutMs: 6, deadline: Infinity })
    assert.deepEqual(limitsOf({ timeout: Infinity, deadline: new Date(9) }), {
      timeoutMs: Infinity,
      queueTimeoutMs: 6,
      deadline: 9,
    })
    assert.equal(limitsOf({ timeout: Infinity, queueTimeout: Infinity }), null)
  })

  test('without a file anywhere is refused', () => {
    assert.match(refusal(undefined, resolveOptions({})).message, /give 'filename' to the pool or to run\(\)/)
  })

  test('options that are no object are refused', () => {
    for (const options of [null, 1, 'x', () => {}]) assert.equal(refusal(options).option, 'options')
  })

  test('an unknown name is refused with the nearest right one', () => {
    assert.match(refusal({ singal: signal }).message, /no option 'singal'.*Did you mean 'signal'/)
    assert.match(refusal({ patience: 1 }).message, /Known are name, filename/)
    for (const name of ['constructor', '__proto__']) {
      assert.equal(refusal(JSON.parse(`{ "${name}": 1 }`)).option, name)
    }
  })

  test('a marked payload is unwrapped and transferred with the rest', () => {
    const buffer = new ArrayBuffer(8)
    const other = new ArrayBuffer(4)
    const view = new Uint8Array(buffer)
    const { payload, terms } = resolve({ transferList: [other] }, move(view))
    assert.equal(payload, view)
    assert.deepEqual(terms.transferList, [other, buffer])
  })

  test("the caller's list is not touched", () => {
    const list: ArrayBuffer[] = []
    resolve({ transferList: list }, move(new ArrayBuffer(8)))
    assert.deepEqual(list, [])
  })
})

describe('a polluted prototype', () => {
  const polluted = Object.prototype as Record<string, unknown>
  afterEach(() => {
    for (const key of Object.keys(judged)) delete polluted[key]
  })

  for (const options of [undefined, {}, { priority: 1 }]) {
    test(`changes no call with ${JSON.stringify(options)}`, () => {
      Object.assign(polluted, { filename: '/etc/evil.js', name: 'evil', signal: 1, transferList: 1 })
      const { handler, transferList } = resolve(options).terms
      assert.deepEqual(handler, { filename: '/pool.js', name: 'work' })
      assert.deepEqual(transferList, [])
    })
  }
})
