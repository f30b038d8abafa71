import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { HandlerFileProblem } from './handler-file.js'
import { baseOf, fileOfThunk, loadOnce, type ModuleThunk } from './handler-module.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lido-thunk-')))
after(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'src', 'folder'), { recursive: true })
for (const file of ['work.js', 'typed.ts', 'modern.mjs', 'folder/index.js', 'old.cjs']) {
  writeFileSync(join(folder, 'src', file), '')
}
writeFileSync(join(folder, 'package.json'), '{ "imports": { "#work": "./src/work.js" } }')
const base = join(folder, 'src', 'main.js')
const inSrc = (file: string) => join(folder, 'src', file)
/** As bundlers write it, on Windows too. */
const withSlashes = (path: string) => path.replaceAll('\\', '/')
/** `/@fs` stands before a path, with a slash between them on Windows. */
const fromVite = (path: string) => `/@fs${withSlashes(path).replace(/^(?!\/)/, '/')}`

/** A function with this text, as a compiler or a bundler would leave it. Nothing calls it. */
const thunk = (text: string): ModuleThunk => new Function(`return (${text})`)() as ModuleThunk

const fileOf = (text: string, from: string | null = base) => fileOfThunk(thunk(text), from, () => null)

function problem(text: string, from: string | null = base): string {
  const found = fileOf(text, from)
  assert.ok(found instanceof HandlerFileProblem, `${text} gave ${String(found)}`)
  return found.text
}

test('the text of a function names its file, in the form of each compiler and bundler', () => {
  for (const text of [
    "() => import('./work.js')",
    '() => import("./work.js")',
    '() => import(`./work.js`)',
    "async () => await import('./work.js')",
    "function () { return import('./work.js') }",
    "() => import(/* webpackChunkName: 'work' */ './work.js')",
    "() => import(\n  // the handlers\n  './work.js',\n)",
    "() => /* import('./other.js') */ import('./work.js')",
    "() => import('./work.js', { with: {} })",
    // TypeScript to CommonJS, with and without esModuleInterop
    "() => Promise.resolve().then(() => __importStar(require('./work.js')))",
    "() => Promise.resolve().then(() => require('./work.js'))",
    // Babel and swc
    "() => Promise.resolve().then(() => _interopRequireWildcard(require('./work')))",
    '()=>Promise.resolve().then(()=>/*#__PURE__*/ _interop_require_wildcard(require("./work")))',
    // Rollup to CommonJS
    "() => Promise.resolve().then(function () { return require('./work.js'); })",
    // tsx
    `()=>import("./work.js").then(s=>{const e="default";return s[e]&&typeof s[e]=="object"&&"__esModule"in s[e]?s[e]:s})`,
    // Istanbul
    "() => { cov_1x().f[0]++; cov_1x().s[1]++; return import('./work.js') }",
    // The development server of Vite
    '() => __vite_ssr_dynamic_import__("./work.js")',
    '() => __vite_ssr_dynamic_import__("/src/work.js?t=1700000000000")',
    `() => __vite_ssr_dynamic_import__("${fromVite(inSrc('work.js'))}")`,
    `() => import('${withSlashes(inSrc('work.js'))}')`,
    "() => import('./w\\x6Frk.js')",
    "() => import('./w\\u{6f}rk.\\u006As')",
    `() => import('${pathToFileURL(inSrc('work.js')).href}')`,
    "() => import('#work')",
  ]) {
    assert.equal(fileOf(text), inSrc('work.js'), text)
  }
})

test('a path without the extension of its file is completed', () => {
  assert.equal(fileOf("() => import('./typed')"), inSrc('typed.ts'))
  assert.equal(fileOf("() => import('./modern')"), inSrc('modern.mjs'))
  assert.equal(fileOf("() => import('./old')"), inSrc('old.cjs'))
  assert.equal(fileOf("() => import('./folder')"), inSrc('folder/index.js'))
  // A worker finds the file that these mean.
  assert.equal(fileOf("() => import('./typed.js')"), inSrc('typed.js'))
  assert.equal(fileOf("() => import('./missing.js')"), inSrc('missing.js'))
})

test('a package is found from the file that creates the pool', () => {
  assert.match(
    String(fileOf("() => import('typescript')", join(process.cwd(), 'main.js'))),
    /node_modules.typescript./,
  )
})

test('a file that is missing beside base is found beside the caller', () => {
  const elsewhere = join(folder, 'elsewhere', 'index.mjs')
  const found = fileOfThunk(thunk("() => import('./work.js')"), elsewhere, () => base)
  assert.equal(found, inSrc('work.js'))
  assert.equal(fileOf("() => import('./none.js')", elsewhere), join(folder, 'elsewhere', 'none.js'))
})

test('a path may start from a folder, a URL or a file', () => {
  for (const given of [
    base,
    pathToFileURL(base),
    pathToFileURL(base).href,
    `${pathToFileURL(base).href}?v=1`,
    inSrc(''),
    inSrc('.'),
    new URL('.', pathToFileURL(base)),
  ]) {
    const from = baseOf(given)
    assert.ok(typeof from === 'string', String(given))
    assert.equal(fileOf("() => import('./work.js')", from), inSrc('work.js'), String(given))
  }
  for (const given of ['./main.js', 1, {}, 'https://a.b/c.js', '']) {
    assert.ok(baseOf(given) instanceof HandlerFileProblem, String(given))
  }
})

test('a function that names no single constant path gets an error that says the rule', () => {
  const rule =
    /^must be a function with one import of a constant path, as in \(\) => import\('\.\/work\.js'\)/
  for (const [text, expected] of [
    ['() => 1', /The text of the function is now '\(\) => 1'\./],
    ['() => o.e(683).then(o.bind(o, 683))', /lido-bundle/],
    ['() => Promise.resolve().then(() => (init_work(), work_exports))', /lido-bundle/],
    [
      '() => __webpack_require__.e(1).then(__webpack_require__.bind(__webpack_require__, "./src/work.js"))',
      /lido-bundle/,
    ],
    [`() => import('./a.js') && import('./b.js')`, /imports '\.\/a\.js' and '\.\/b\.js'/],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
    ['() => import(`./${name}.js`)', /the path is not a constant.*option filename/],
    ["() => import('./a' + name)", /the path is not a constant/],
    ['() => import(name)', /the path is not a constant/],
    ["() => import('./work.js').then(m => m.default)", /must return the module itself.*lido-bundle/],
    ["async () => (await import('./work.js')).default", /must return the module itself/],
    [
      "async () => { const { api } = await import('./work.js'); return api }",
      /must return the module itself/,
    ],
    ["() => import('./work.js').catch(() => ({}))", /must return the module itself/],
    ["() => import('./main.js').then(function (n) { return n.w; })", /must return the module itself/],
  ] as const) {
    assert.match(problem(text), rule, text)
    assert.match(problem(text), expected, text)
  }
  for (const alias of ['@/work', '~/work', '#missing', 'src/work', '$lib/work']) {
    assert.match(
      problem(`() => import('${alias}')`),
      new RegExp(
        `^imports '${alias.replace('$', '\\$')}', which is neither a relative path nor a package.*aliases`,
      ),
    )
  }
  assert.match(
    problem("() => import('/src/none.js')"),
    /imports '\/src\/none\.js', which does not exist.*Add the option base/,
  )
  assert.match(problem("() => import('./work.js')", null), /Add the option base: import\.meta\.url/)
})

test('an inline worker loads the module once, and again after a failure', async () => {
  let calls = 0
  const load = loadOnce(async () => {
    if (++calls === 1) throw new Error('not yet')
    return { default: 1 }
  })
  await assert.rejects(async () => await load(), /not yet/)
  assert.equal(await load(), await load())
  assert.equal(calls, 2)
  const handler = (value: unknown) => value
  assert.deepEqual(await loadOnce(handler)(), { default: handler })
  await assert.rejects(
    async () => await loadOnce(() => 5)(),
    /returned 5\. It must return a module.*\{ default: yourFunction \}/,
  )
})
