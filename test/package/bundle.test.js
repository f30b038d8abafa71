// What lido-bundle finds in a module, and how it changes it. The bundlers themselves run in test/setups/bundle.test.js.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { findHandlers } from '../../packages/bundle/src/find.js'
import { rewrite } from '../../packages/bundle/src/rewrite.js'
import { root } from './installed.js'

const importPool = "import { Pool } from 'lido'\n"
const specifiers = (code, id = '/src/main.ts') => findHandlers(code, id).map(({ specifier }) => specifier)

/** Applies the edits of all handlers, with `HREF` as the URL of the emitted file. */
function changed(code, id = '/src/main.ts') {
  const edits = findHandlers(code, id).flatMap(({ edits }) => edits('HREF'))
  let text = code
  for (const { start, end, text: replacement } of edits.sort((a, b) => b.start - a.start)) {
    text = text.slice(0, start) + replacement + text.slice(end)
  }
  return text
}

describe('lido-bundle finds a handler', () => {
  for (const [form, expression] of Object.entries({
    'double quotes': 'new URL("./work.js", import.meta.url)',
    'a template': 'new URL(`./work.js`, import.meta.url)',
    'comments and line breaks': 'new URL(\n  /* the handler */ "./work.js", // here\n  import.meta.url,\n)',
    href: "new URL('./work.js', import.meta.url).href",
    'a path of a URL': "fileURLToPath(new URL('./work.js', import.meta.url))",
    'a type': "new URL('./work.js', import.meta.url) as URL satisfies URL",
    'a condition': "isTest ? fake : new URL('./work.js', import.meta.url)",
    'import.meta.resolve()': "import.meta.resolve('./work.js')",
    'require.resolve()': "require.resolve('./work.js')",
    'join()': "join(__dirname, 'work.js')",
    'compiled join()': "(0, node_path_1.join)(__dirname, 'work.js')",
    'path.resolve()': "path.resolve(import.meta.dirname, 'work.js')",
    'a path in a template': '`$' + '{__dirname}/work.js`',
    'a sum of paths': "__dirname + '/work.js'",
  })) {
    test(`named by ${form}`, () => {
      assert.deepEqual(specifiers(`${importPool}new Pool({ filename: ${expression} })`), ['./work.js'])
    })
  }

  for (const [form, property] of Object.entries({
    'an arrow function': "module: () => import('./work.js')",
    'an asynchronous function with a comment':
      "module: async () => await import(/* @vite-ignore */ './work.js')",
    'a block': 'module: () => { return import(`./work.js`) }',
    'a function expression': "module: function () { return import('./work.js') }",
    'a method': "async module() { return import('./work.js') }",
    'a quoted name': "'module': () => import('./work.js')",
    'compiled import()': "module: () => Promise.resolve().then(() => __importStar(require('./work.js')))",
  })) {
    test(`loaded by ${form}`, () => {
      const code = `${importPool}new Pool({ ${property}, base: import.meta.url, maxWorkers: 2 })`
      assert.deepEqual(specifiers(code), ['./work.js'])
      assert.equal(changed(code), `${importPool}new Pool({ filename: new URL(HREF), ...{}, maxWorkers: 2 })`)
    })
  }

  test('named by a variable, a field or a default', () => {
    const url = "new URL('./work.js', import.meta.url)"
    for (const code of [
      `const filename = ${url}; new Pool({ filename })`,
      `const file = ${url}; new Pool({ filename: file.href })`,
      `class A { filename = ${url}; pool = new Pool({ filename: this.filename }) }`,
      `class A { constructor(file = ${url}) { this.pool = new Pool({ filename: file }) } }`,
      `options.filename = ${url}; new Pool(options)`,
      `createPool(${url})`,
      `await pool.run(1, { filename: ${url} })`,
    ]) {
      assert.deepEqual(specifiers(importPool + code), ['./work.js'], code)
    }
  })

  test('loaded by a function that a variable holds', () => {
    const code = `${importPool}const module: Load = () => import('./work.js')\nnew Pool({ module })`
    assert.equal(changed(code), `${importPool}const module = new URL(HREF)\nnew Pool({ filename: module })`)
  })

  test('in TypeScript, JSX and TSX', () => {
    const pool = "new Pool({ filename: new URL('./work.js', import.meta.url) })"
    assert.deepEqual(specifiers(`const a = <string>b; enum C { D } @E() class F {} ${pool}`), ['./work.js'])
    assert.deepEqual(specifiers(`const a = <b>{c}</b>; ${pool}`, '/a.jsx'), ['./work.js'])
    assert.deepEqual(specifiers(`const a: string = <b>{c}</b>; ${pool}`, '/a.tsx'), ['./work.js'])
    assert.deepEqual(specifiers(`const a = <b>{c}</b>; ${pool}`, '/a.js'), ['./work.js'])
  })
})

describe('lido-bundle leaves a module as it is', () => {
  for (const [reason, code] of Object.entries({
    'without a pool': "save({ filename: new URL('./photo.js', import.meta.url) })",
    'with another option': `${importPool}new Pool({ logo: new URL('./work.js', import.meta.url) })`,
    'with a variable in the specifier': `${importPool}new Pool({ filename: new URL(name, import.meta.url) })`,
    'with an expression in the template': `${importPool}new Pool({ module: () => import(\`./$\{name}.js\`) })`,
    'with two imports': `${importPool}new Pool({ module: () => a ? import('./a.js') : import('./b.js') })`,
    'with a module of another library':
      "import pool from './pool.js'; route({ module: () => import('./page.js') })",
    'with a function that is also called': `${importPool}const module = () => import('./a.js'); module(); new Pool({ module })`,
    'with names in strings and comments': `${importPool}// new Pool({ filename: new URL('./work.js', import.meta.url) })\nconst a = "filename: new URL('./work.js', import.meta.url)"`,
    'that does not parse': `${importPool}const = ; new Pool({ filename: new URL('./work.js', import.meta.url) })`,
  })) {
    test(reason, () => assert.deepEqual(specifiers(code), []))
  }

  test('in the package lido', () => {
    const code = `${importPool}new Pool({ filename: new URL('./work.js', import.meta.url) })`
    assert.deepEqual(specifiers(code, '/a/node_modules/lido/dist/esm/index.js'), [])
  })
})

describe('lido-bundle looks for the file of a handler', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lido-bundle-'))
  after(() => rmSync(folder, { recursive: true }))
  for (const name of ['typed.ts', 'plain.js', 'module.mjs', 'folder/index.js', 'data.json']) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), '')
  }
  const importer = join(folder, 'main.js')

  /** Resolves only files that exist under the exact name, as a bundler without settings does. */
  async function emittedFor(specifier, form = specifier => `new URL('${specifier}', import.meta.url)`) {
    const emitted = []
    const failures = []
    const result = await rewrite(`${importPool}\nnew Pool({ filename: ${form(specifier)} })`, importer, {
      root: folder,
      resolve: async given => {
        const path = given.replace(/^@/, './folder')
        try {
          readFileSync(join(folder, path))
          return { path: join(folder, path) }
        } catch {
          return null
        }
      },
      emit: path => {
        emitted.push(path.slice(folder.length + 1).replaceAll('\\', '/'))
        return 'HREF'
      },
      fail: message => failures.push(message),
    })
    return { emitted, failures, code: result?.code }
  }

  test('under other extensions, without an extension and by an alias', async () => {
    assert.deepEqual((await emittedFor('./typed.js')).emitted, ['typed.ts'])
    assert.deepEqual((await emittedFor('./typed')).emitted, ['typed.ts'])
    assert.deepEqual((await emittedFor('plain.js')).emitted, ['plain.js'])
    assert.deepEqual((await emittedFor('./plain.mjs')).emitted, ['plain.js'])
    assert.deepEqual((await emittedFor('./module.js')).emitted, ['module.mjs'])
    assert.deepEqual((await emittedFor('@/index.js')).emitted, ['folder/index.js'])
  })

  test('and leaves files that are no modules', async () => {
    for (const specifier of ['./data.json', './plain.js?worker', 'node:os', 'data:text/javascript,1']) {
      assert.deepEqual(await emittedFor(specifier), { emitted: [], failures: [], code: undefined })
    }
  })

  test('and fails with the line if it does not exist', async () => {
    const { failures } = await emittedFor('./missing.js')
    assert.deepEqual(failures, [
      `main.js:3 names the handler './missing.js'. There is no file ${join(folder, 'missing.js')}. Write the path of the handler's source file, relative to main.js.`,
    ])
    const joined = await emittedFor('missing.js', name => `join(__dirname, '${name}')`)
    assert.deepEqual(joined.failures, [])
  })

  test('and makes a source map', async () => {
    const { code } = await emittedFor('./plain.js')
    assert.equal(code, `${importPool}\nnew Pool({ filename: new URL(HREF) })`)
  })
})

test('require() of an entry point of lido-bundle returns the plug-in', () => {
  const require = createRequire(join(root, 'packages/bundle/package.json'))
  for (const bundler of ['vite', 'rollup', 'rolldown', 'webpack', 'rspack', 'esbuild']) {
    const lidoBundle = require(`lido-bundle/${bundler}`)
    const plugin = lidoBundle()
    assert.ok([plugin].flat().every(({ name, apply }) => name !== undefined || apply !== undefined))
  }
})
