import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { loadMessage } from './load-advice.js'

const folder = mkdtempSync(join(tmpdir(), 'lido-advice-'))
after(() => rmSync(folder, { recursive: true }))

const failure = (code: string, message: string) => Object.assign(new Error(message), { code })
const messageFor = (file: string, cause: Error) => loadMessage(file, cause, `Error: ${cause.message}`)
const missing = (file: string) =>
  messageFor(file, failure('ERR_MODULE_NOT_FOUND', `Cannot find module '${file}' imported from /lido.js`))
const unknownExtension = (file: string) =>
  messageFor(file, failure('ERR_UNKNOWN_FILE_EXTENSION', `Unknown file extension ".ts" for ${file}`))

function write(name: string): string {
  const file = join(folder, name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, '')
  return file
}

/** Calls back with these variables of the environment, and with no other variable of a test runner. */
function withEnvironment<T>(variables: Record<string, string>, callback: () => T): T {
  const { env } = process
  const { JEST_WORKER_ID: _, VITEST: __, ...others } = env
  process.env = { ...others, ...variables }
  try {
    return callback()
  } finally {
    process.env = env
  }
}

test('the advice for a missing file says to correct the option', () => {
  assert.equal(
    missing('/app/src/work.js'),
    "There is no file /app/src/work.js. Correct 'filename' or 'module', or create the file. The next call looks for it again.",
  )
})

test('the advice for a missing file of a build names the plug-in, and a file outside of the bundle', () => {
  assert.match(
    missing('/app/dist/server/work.js'),
    /plug-in of the package lido-bundle.*filename: join\(process\.cwd\(\), 'workers\/work\.mjs'\)/,
  )
})

test('the advice for a missing file of an executable of Bun adds it to the build', () => {
  assert.match(missing('/$bunfs/root/work.js'), /bun build --compile main\.js work\.js/)
})

test('the advice for an import without an extension names the file', () => {
  const imported = write('rate.js').replace(/\.js$/, '')
  const message = messageFor(
    '/app/work.js',
    failure('', `Cannot find module '${imported}' imported from /app/work.js`),
  )
  assert.ok(message.includes(`Import the file by its full name, ${imported}.js.`), message)
})

test('the advice for an address of Next.js names a file outside of the bundle', () => {
  const message = missing('/_next/static/media/work.1a2b3c.js')
  assert.match(
    message,
    /Name a file that Next\.js does not bundle: filename: join\(process\.cwd\(\), 'workers\/work\.mjs'\)/,
  )
})

test('the advice for a copy in .next names a file outside of the bundle', () => {
  const problem = failure('', "SyntaxError: Unexpected token 'export'")
  assert.match(
    messageFor('/app/.next/server/assets/work.1sp8h_oocdhnm.js', problem),
    /It is a copy that the bundler of Next\.js made\. Name a file/,
  )
})

test('the advice for a copied file without its imports names the plug-in', () => {
  const file = '/app/out/93025d28a6064edd86bb.js'
  const problem = failure(
    'ERR_MODULE_NOT_FOUND',
    `Cannot find module '/app/out/helper.js' imported from ${file}`,
  )
  assert.match(messageFor(file, problem), /copied the file without its imports\. Add the plug-in/)
})

const missingUrl = pathToFileURL('/app/work.mjs').href
for (const [runtime, message] of [
  ['Bun', "Cannot find module '/app/work.mjs' imported from /lido/thread.cjs"],
  ['Deno', `Module not found "${missingUrl}".`],
  ['Deno with npm packages', `Cannot find module '${missingUrl}' imported from 'file:///lido/thread.cjs'`],
] as const) {
  test(`the message of ${runtime} for a missing file is recognised`, () => {
    assert.match(
      messageFor('/app/work.mjs', failure('', message)),
      /^There is no file \/app\/work\.mjs\. Correct/,
    )
  })
}

test('the message names the TypeScript source of a missing file', () => {
  const source = write('work.ts')
  const message = withEnvironment({}, () => unknownExtension(source.replace(/ts$/, 'js')))
  assert.ok(
    message.startsWith(
      `There is no file ${join(folder, 'work.js')}, and a worker could not load ${source} in its place (`,
    ),
  )
  assert.match(message, /Compile the file, or set a loader: execArgv: \['--import', 'tsx'\]\./)
})

test('the advice in a test runner names the option module', () => {
  for (const variable of ['JEST_WORKER_ID', 'VITEST'])
    assert.match(
      withEnvironment({ [variable]: '1' }, () => unknownExtension('/app/work.ts')),
      /backend: 'inline', module: \(\) => import\('\.\/work'\)\./,
    )
})

test('the advice in a program of ts-node names ts-node', t => {
  const mark = Symbol.for('ts-node.register.instance')
  Object.defineProperty(process, mark, { value: {}, configurable: true })
  t.after(() => Reflect.deleteProperty(process, mark))
  assert.match(
    unknownExtension('/app/work.ts'),
    /load ts-node in workers too: execArgv: \['--require', 'ts-node\/register'\]/,
  )
})

test('the advice for an import without the extension .ts names the whole file', () => {
  const helper = write('lib/helper.ts')
  for (const specifier of ['lib/helper.js', 'lib/helper']) {
    const cause = failure(
      'ERR_MODULE_NOT_FOUND',
      `Cannot find module '${join(folder, specifier)}' imported from ${join(folder, 'main.ts')}`,
    )
    assert.ok(
      messageFor(join(folder, 'main.ts'), cause).includes(`Import the file by its full name, ${helper}, or `),
    )
  }
})

test('the advice for TypeScript syntax that Node cannot remove says what to replace', () => {
  const cause = failure(
    'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
    'TypeScript enum is not supported in strip-only mode',
  )
  assert.match(
    messageFor('/app/work.ts', cause),
    /Replace enums, namespaces and parameter properties, or set a loader/,
  )
})

test('the advice for other failures says to fix the file', () => {
  assert.match(
    messageFor('/app/work.js', new Error('broken')),
    /\(Error: broken\)\. Fix the file\. The next call loads it again\.$/,
  )
})
