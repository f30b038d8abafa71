// The text check: which names of a function are free. No valid function may be refused, so most cases have no free name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFunction } from './function-text.js'

const complete = [
  '(a, b) => a ** b',
  'async x => await x',
  'async => async',
  'async (a) => { for await (const x of a) yield_(x); function yield_(v) { return v } }',
  'function f(n) { return n < 2 ? 1 : n * f(n - 1) }',
  'function* g(n) { yield* h(n); function* h(m) { yield m } }',
  'async function* g() { yield 1 }',
  // Parameters and patterns.
  '(a = 1, { b, c: [d, ...e], f = a, ...g } = {}, ...h) => [a, b, d, e, f, g, h]',
  '({ if: x, class: y, default: z = 3 }) => x + y + z',
  'function f(a, b = () => a, { c = b } = {}) { return [a, b, c] }',
  '() => { let a = 1, b, { c, d: { e } } = {}, [g, , h = 2] = []; return [a, b, c, e, g, h] }',
  '() => { let a\n let b = 1\n const c = { a, b }, d = [a, b], e = d; return [c, d, e] }',
  '() => { for (let i = 0, n = 3; i < n; i++) { const [k, v] = [i, n]; k + v } }',
  '(m) => { for (const [k, v] of m) k + v; for (var x in m) x; for (const { a: [b] } of m) b }',
  '() => { const of = 1, async = 2, get = 3, set = 4, let_ = 5; return of + async + get + set + let_ }',
  '() => { try { null.x } catch ({ message, cause: { code } = {} }) { return message + code } }',
  '() => { try { null.x } catch { return 1 } finally { return 2 } }',
  '() => { const a = { in: 1 } , b = 2, c = "x" in a, d = 3; return [b, c, d] }',
  '(...[a, b]) => a + b',
  'x => y => ({ z }) => x + y + z',
  // Keys, properties, labels and methods.
  'a => a.b?.c.d?.[0]?.e',
  '() => ({ a: 1, "b": 2, 3: 4, get c() { return 1 }, set c(v) { v }, async d() {}, *e() {}, async *f() {} })',
  '() => ({ if(a) { return a }, while(b) { return b }, delete(c) { return c }, with(i, v) { return i + v } })',
  '() => ({ return() {}, throw(e) { return e }, function: 1, class: 2, typeof(x) { return x }, switch(q) { return q } })',
  '() => ({ get default() { return 1 }, async for(a) { return a }, *while(b) { yield b } })',
  '(o) => o.if(o) + o.class.function.return / 2 / o.in',
  '(a) => { outer: for (;;) { inner: while (a) { if (a) break outer; continue inner } } }',
  '(a, b, c) => { switch (a) { case b: { return c } case b ? c : a: return 1; default: return { b: c } } }',
  '(a, b, c) => a ? b : { c }',
  '(a) => a?.5:1',
  // Classes.
  '() => { class A { x = 1; y; static z = 2\n w\n static #p = 3; get q() { return this.#r() } #r() { return A.#p } static { A.z = 4 } } return new A() }',
  '() => { class A { static async *m(a) { yield a } "s"() {} [Symbol.iterator]() {} 1() {} accessor = 1; static = 2; get = 3; async\n of } return A }',
  '(B) => { class A extends B { constructor(a) { super(a); this.b = new.target } } return class extends A { m() { return super.m() } } }',
  '(b) => class { #x; has(o) { return #x in o } if(y) { return y } }',
  // Texts, templates, expressions and comments.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a function.
  '() => `a ${`b ${1 + 1} }`} \\` \\${x} ${{ a: 1 }.a}` + "it\'s \\" y" + \'"z\\\'\'',
  '(a, g) => a / 2 / g + /[/"\'`]x\\/y/gi.test(a) + a++ / g / 1 + (a) / 2',
  '(a) => { if (a) /x"/.test(a); while (a) /y\'/.test(a); return /z`/ }',
  '(a) => { {} /x"/.test(a); (() => {})\n; /y"/.test(a) }',
  '(a) => [/(?<b>"c)\\k<b>/v, /[[a-z]--[aeiou]]/v, typeof /"/, a]',
  '(a) => 1_000n + 0xFFn + .5e-3 + 1e+5 + 1..toFixed(2).length + 0b1 + a',
  '(a /* b */, // c\n d) => /* e */ a + d // f',
  '() => { /* "x */ return 1 // \'y\n }',
  '(ünïcödé, $, _, 变量) => ünïcödé + $ + _ + 变量',
  // Names that the check must not see.
  '() => typeof window === "undefined" ? 1 : window.x',
  '() => typeof (document) !== "undefined" && document.title',
  '() => [undefined, NaN, Infinity, globalThis, process, Buffer, URL, structuredClone, Array, eval]',
  'async () => (await import("node:fs")).existsSync(process.cwd())',
  'function f() { return [this, arguments, new.target] }',
  '() => { function f() { return [this, arguments, new.target] } return f() }',
  '() => ({ m() { return [this, arguments, super.m] } })',
  '(a, b) => { const c = a <!--b\n return c }',
  '(x) => { while (x --> 0); }',
  '() => \\u0061',
]

const free: Record<string, string[]> = {
  'x => x * factor': ['factor'],
  '(a = b) => a': ['b'],
  '(a) => ({ a, helper })': ['helper'],
  '() => helper({ key: value }, [item])': ['helper', 'value', 'item'],
  '(a) => a ? helper(1) : other(2)': ['helper', 'other'],
  '() => { if (flag.on) { return `${name}` } }': ['flag', 'name'],
  '() => { for (const x of list) count += x }': ['list', 'count'],
  'async function f(a) { const { b } = await load(a); return b.c.load }': ['load'],
  '() => { const a = outer / 2, b = a; return b }': ['outer'],
  '() => (x, y)': ['x', 'y'],
  '() => this.x': ['this'],
  '() => super.x': ['super'],
  '() => { if (arguments.length) { try { 1 } catch (e) { return new.target } } }': [
    'arguments',
    'new.target',
  ],
  '() => import.meta.url': ['import.meta'],
  "() => import('./x.js')": ["import('./x.js')"],
  "() => require('node:fs')": ['require'],
  '() => { class A { m() { return helper() } } }': ['helper'],
}

const known = (name: string) => name in globalThis

test('a complete function has no free name', () => {
  for (const text of complete) {
    const names = readFunction(text)?.free.filter(name => !known(name)) ?? []
    assert.deepEqual(names, [], text)
  }
})

test('a free name is found in expressions, patterns and templates', () => {
  for (const [text, names] of Object.entries(free)) assert.deepEqual(readFunction(text)?.free, names, text)
})

test('the kind of a function is read from its text', () => {
  const kinds = {
    function: ['function () {}', 'async function f() {}', 'function* g() {}', 'function/**/f(){}'],
    arrow: [
      '() => 1',
      'x => x',
      'async x => x',
      'async (x) => x',
      'async => async',
      '({ a }) => { a }',
      '(a = () => 1) => a',
    ],
    method: [
      'm() {}',
      'async() {}',
      'async m() {}',
      '*g() {}',
      'async *g() {}',
      'get x() { return 1 }',
      'set x(v) {}',
      '[Symbol.iterator]() {}',
      '"a b"() {}',
      '1() {}',
      '#p() {}',
      'class() {}',
    ],
    class: ['class {}', 'class A extends Array {}'],
  }
  for (const [kind, texts] of Object.entries(kinds)) {
    for (const text of texts) assert.equal(readFunction(text)?.kind, kind, text)
  }
})

test('a text that is cut off or has unknown forms is not read', () => {
  for (const text of ['() => {', '() => `', '() => "', '() => }', '() => @x', '', 'x', '(a) => (']) {
    assert.equal(readFunction(text), null, text)
  }
})
