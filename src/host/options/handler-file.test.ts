import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe as describeValue } from '../../shared/options/option-table.js'
import { HandlerFileProblem, resolveHandlerFile, resolvePoolFile } from './handler-file.js'

const here = fileURLToPath(import.meta.url)

function problemOf(found: string | HandlerFileProblem): string {
  assert.ok(found instanceof HandlerFileProblem, `accepted as ${String(found)}`)
  return found.text
}

for (const [name, resolve] of Object.entries({ resolveHandlerFile, resolvePoolFile })) {
  describe(name, () => {
    test('an absolute path stays unchanged', () => {
      assert.equal(resolve(here), here)
    })

    test('a file: URL becomes a path, given as a URL object or as a string', () => {
      assert.equal(resolve(pathToFileURL(here)), here)
      assert.equal(resolve(pathToFileURL(here).href), here)
    })

    test('characters that a URL escapes are decoded', () => {
      const odd = join(here, '..', 'a b#c%.js')
      assert.equal(resolve(pathToFileURL(odd)), odd)
    })

    for (const given of [
      'fs',
      'child_process',
      'node:fs',
      'node:child_process',
      'fs/promises',
      'node:test',
    ]) {
      test(`the built-in module ${given} is refused`, () => {
        assert.match(problemOf(resolve(given)), /builtin module/)
      })
    }

    for (const given of [
      'data:text/javascript,export default 1',
      'https://example.org/x.js',
      new URL('data:text/javascript,1'),
      new URL('https://example.org/x.js'),
      'blob:nodedata:1',
      './handler.js',
      '../handler.js',
      'handlers\n.js',
      '',
      null,
      undefined,
      0,
      {},
      [],
      () => {},
      Symbol('file'),
    ]) {
      test(`the ${typeof given} ${JSON.stringify(String(given))} is refused`, () => {
        assert.match(problemOf(resolve(given)), /must be/)
      })
    }

    test('the error for a URL that is not a file: URL asks for a file: URL', () => {
      for (const [given, advice] of [
        ['https://example.org/x.js', 'Write new URL'],
        ['data:text/javascript,1', 'Write the code to a file'],
      ] as const) {
        const problem = problemOf(resolve(given))
        assert.match(problem, /must be the 'file:' URL of a saved file, got .* scheme file\)\./)
        assert.ok(problem.includes(advice), problem)
      }
    })

    test('the error for an address of Next.js names a file outside of the bundle', () => {
      // webpack in Next.js gives an object that is a URL only by its prototype.
      const address = Object.create(URL.prototype, {
        toString: { value: () => '/_next/static/media/work.4b587c23.js' },
      })
      assert.match(
        problemOf(resolve(address)),
        /^is '\/_next\/static\/media\/work\.4b587c23\.js', an address that the bundler of Next\.js made\. Name a file/,
      )
    })

    const elsewhere =
      process.platform === 'win32' ? [] : ['file://handler.js', new URL('file://./handler.js')]
    for (const given of ['file:///a%2Fb.js', ...elsewhere]) {
      test(`the error for ${String(given)} names the reason and suggests new URL()`, () => {
        assert.match(
          problemOf(resolve(given)),
          /must be the 'file:' URL of a saved file, got 'file:.*' \(File URL .*\)\. Write new URL\(/,
        )
      })
    }

    test('the error for a relative path suggests new URL() and require.resolve()', () => {
      for (const given of ['./sub/handler.js', '.\\sub\\handler.js'])
        assert.match(
          problemOf(resolve(given)),
          /new URL\('\.\/sub\/handler\.js', import\.meta\.url\), or require\.resolve\('\.\/sub\/handler\.js'\)/,
        )
    })
  })
}

describe('a package name', () => {
  test('resolvePoolFile() finds a package from the working directory', () => {
    assert.match(String(resolvePoolFile('typescript')), /node_modules[\\/]typescript[\\/]/)
    assert.match(String(resolvePoolFile('typescript/package.json')), /package\.json$/)
  })

  test("the error for a package that exports only 'import' suggests import.meta.resolve()", t => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lido-package-')))
    const before = process.cwd()
    t.after(() => {
      process.chdir(before)
      rmSync(folder, { recursive: true })
    })
    const own = join(folder, 'node_modules', 'for-import')
    mkdirSync(own, { recursive: true })
    writeFileSync(join(own, 'package.json'), '{ "exports": { "import": "./index.mjs" } }')
    process.chdir(folder)
    const problem = problemOf(resolvePoolFile('for-import'))
    assert.match(problem, /not export for require\(\).*import\.meta\.resolve\('for-import'\)/)
    assert.doesNotMatch(problem, /cannot be found/)
  })

  test('resolveHandlerFile() refuses a package name', () => {
    assert.match(problemOf(resolveHandlerFile('typescript')), /must be an absolute path/)
  })

  test('the error for a package that does not exist has the cause MODULE_NOT_FOUND', () => {
    for (const given of [
      'lido-no-such-package',
      '@nobody/no-such-package',
      'lido-no-such-package/deep/file.js',
    ]) {
      const found = resolvePoolFile(given)
      assert.match(problemOf(found), /cannot be found from/)
      assert.equal(((found as HandlerFileProblem).cause as { code: string }).code, 'MODULE_NOT_FOUND')
    }
  })
})

test('describe() turns every type of value into a text', () => {
  const values = ['text', 1, 2n, true, null, undefined, Symbol('it'), () => {}, [1], {}, Object.create(null)]
  assert.deepEqual(values.map(describeValue), [
    "'text'",
    '1',
    '2n',
    'true',
    'null',
    'undefined',
    'Symbol(it)',
    'a function',
    'an array',
    'an object',
    'an object',
  ])
})
