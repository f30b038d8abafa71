// Functions that `pool.call()` sends as text, in a pool without a handler file.
import assert from 'node:assert/strict'
import { move } from 'lido'
import { rejection } from '../../helpers/rejection.js'

const noFile = { filename: undefined }

export const functions = {
  async 'a function that is sent as text gets its arguments'({ open }) {
    const pool = open(noFile)
    assert.equal(await pool.call((a, b) => a ** b, 2, 10), 1024)
    assert.deepEqual(await pool.call((...all) => all), [])
    const values = [undefined, null, [1], { a: new Date(0) }, new Map([[1, 2]])]
    assert.deepEqual(await pool.call((...all) => all, ...values), values)
  },

  async 'functions of every form run as text'({ open }) {
    const pool = open(noFile)
    assert.equal(await pool.call(async x => (await x) + 1, 1), 2)
    assert.equal(await pool.call(({ a: [b], ...rest }, c = b) => b + c + rest.d, { a: [1], d: 3 }), 5)
    assert.equal(
      await pool.call(function factorial(n) {
        return n < 2 ? 1 : n * factorial(n - 1)
      }, 5),
      120,
    )
    const nested = text => {
      class Words {
        #list = text.split(/[ "`]/)
        count() {
          // A comment with ( and `.
          return this.#list.map(word => `${word}${`(${word.length})`}`).join(' ')
        }
      }
      function count() {
        return new Words().count()
      }
      return count()
    }
    assert.equal(await pool.call(nested, 'one "two'), 'one(3) (0) two(3)')
  },

  async 'a function that is sent as text imports modules'({ open }) {
    const pool = open(noFile)
    const imported = async path => (await import('node:path')).basename(path)
    assert.equal(await pool.call(imported, '/a/b'), 'b')
    const builtin = path => process.getBuiltinModule('node:path').basename(path)
    assert.equal(await pool.call(builtin, '/a/b'), 'b')
  },

  async 'a function that is sent as text runs in strict mode, without this'({ open }) {
    const pool = open(noFile)
    const isStrict = function () {
      return this === undefined
    }
    assert.equal(await pool.call(isStrict), true)
    const withDirective = function () {
      return this === undefined
    }
    assert.equal(await pool.call(withDirective), true)
    const error = await rejection(pool.call(() => (Object.freeze([])[0] = 1)))
    assert.equal(error.name, 'TypeError')
  },

  async 'a generator that is sent as text gives a stream'({ open }) {
    const pool = open(noFile)
    const chunks = []
    const count = function* (to) {
      for (let n = 0; n < to; n++) yield n
    }
    for await (const chunk of pool.call(count, 3)) chunks.push(chunk)
    assert.deepEqual(chunks, [0, 1, 2])
  },

  async 'the error of a function that is sent as text keeps its class and line'({ open }) {
    const pool = open(noFile)
    const error = await rejection(
      pool.call(() => {
        throw new RangeError('wrong')
      }),
    )
    assert.equal(error.message, 'wrong')
    assert.ok(error instanceof RangeError)
    // Deno adds a word: `at eval (pool.call(), <anonymous>:2:8)`.
    assert.match(error.stack, /pool\.call\(\)(, <anonymous>)?:2/)
  },

  async 'a variable that only the worker misses is named with advice'({ open }) {
    const pool = open(noFile)
    globalThis.onlyHere = 1
    const wanted = /^onlyHere is not defined\. .*Pass 'onlyHere' as an argument/
    try {
      for (const fn of [() => onlyHere, async () => onlyHere]) {
        const call = pool.call(fn)
        // The inline backend shares the global object.
        delete globalThis.onlyHere
        const error = await rejection(call)
        globalThis.onlyHere = 1
        assert.equal(error.name, 'ReferenceError')
        assert.match(error.message, wanted)
        assert.match(error.stack, /Pass 'onlyHere' as an argument/)
      }
    } finally {
      delete globalThis.onlyHere
    }
  },

  async 'helpers that esbuild and Vite insert exist in the worker'({ open }) {
    const pool = open(noFile)
    const kept = () => {
      const inner = __name(() => {}, 'original')
      return inner.name
    }
    assert.equal(await pool.call(kept), 'original')
    const viteImport = async () =>
      Object.keys(await __vite_ssr_dynamic_import__('node:path')).includes('join')
    assert.equal(await pool.call(viteImport), true)
  },

  async 'options of a call come before the function'({ open }) {
    const pool = open(noFile)
    const bytes = new Uint8Array(8)
    assert.equal(await pool.call({ timeout: 60_000 }, given => given.length, move(bytes)), 8)
    assert.equal(bytes.length, 0)
    const buffer = new ArrayBuffer(4)
    assert.equal(await pool.call({ transferList: [buffer] }, given => given.byteLength, buffer), 4)
    assert.equal(buffer.byteLength, 0)
    const aborted = await rejection(pool.call({ signal: AbortSignal.abort('no') }, () => 1))
    assert.equal(aborted.reason, 'no')
  },

  async 'a pool with a handler file also runs functions as text'({ open }) {
    const pool = open()
    assert.deepEqual(await Promise.all([pool.run(2), pool.call(n => n * 3, 2)]), [2, 6])
  },

  async 'many different texts run one after another'({ open }) {
    const pool = open(noFile)
    const calls = Array.from({ length: 1200 }, (_, n) => pool.call(new Function(`return ${n}`)))
    assert.deepEqual(
      await Promise.all(calls),
      calls.map((_, n) => n),
    )
  },
}
