// The content of the tarball, and the verdicts of publint and arethetypeswrong.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { installedPackage, root, tarball } from './installed.js'
import { reachedTypes } from './reached-types.js'

const mostBytes = 870_000
const mostInstalledBytes = 3_350_000

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath ?? entry.path, entry.name)).replaceAll('\\', '/'))
    .sort()
}

/** The code and the types of every module in `src`, without tests, test helpers and CommonJS stand-ins. */
function expectedModules() {
  return filesIn(join(root, 'src'))
    .filter(name => !/\.(test|cjs)\.ts$/.test(name) && !name.startsWith('testing/'))
    .flatMap(name => [name.replace(/ts$/, 'js'), name.replace(/ts$/, 'd.ts')])
}

const packedModules = [
  'index.js',
  'worker.js',
  'kit.js',
  'inspection.js',
  'adapters/piscina/index.js',
  'adapters/body/index.js',
  'adapters/body/module-urls.js',
  'adapters/express/index.js',
  'adapters/fastify/index.js',
  'adapters/nestjs/index.js',
  'adapters/nestjs/module-urls.js',
  'adapters/bullmq/index.js',
  'adapters/bullmq/module-urls.js',
  'adapters/opentelemetry/index.js',
  'adapters/prometheus/index.js',
  'adapters/prometheus/module-urls.js',
  'adapters/pino/index.js',
  'adapters/tinypool/index.js',
  'adapters/tinypool/module-urls.js',
  'adapters/workerpool/index.js',
  'adapters/workerpool/module-urls.js',
]
/** Holds the URLs of the worker entry files. In the ES module build, the main entry point holds them. */
const onlyCommonJs = 'host/backend/entry-url.js'
/** Workers of both builds run these modules, so only one build of them exists. */
const workerModules = [
  'adapters/body/parser.js',
  'adapters/bullmq/in-worker.js',
  'adapters/prometheus/in-worker.js',
  'adapters/tinypool/in-worker.js',
  'adapters/workerpool/in-worker.js',
]
/** The first files of workers. Their names say their format, because programs may copy them. */
const firstFiles = ['worker/entry/inline.mjs', 'worker/entry/process.cjs', 'worker/entry/thread.cjs']

/** Bundlers load these in place of the entry points. */
const forBundlers = ['esm', 'cjs'].flatMap(format =>
  packedModules
    .filter(name => /(^|\/)index\.js$/.test(name))
    .map(name => `dist/${format}/${name.replace(/index\.js$/, 'for-bundlers.js')}`),
)

/** The type files that the entry points of the installed package import, directly or indirectly. */
function namedTypes() {
  const packageUrl = pathToFileURL(`${installedPackage}/`)
  const found = new Set()
  for (const door of packedModules.filter(name => /(^|\/)(index|worker|kit)\.js$/.test(name)))
    for (const build of ['esm', 'cjs'])
      reachedTypes(new URL(`dist/${build}/${door.replace(/js$/, 'd.ts')}`, packageUrl), found)
  return new Set([...found].map(href => href.slice(packageUrl.href.length)))
}

test('the tarball holds both builds, the types and four pages, and nothing else', () => {
  const modules = expectedModules()
  // Only the entry points are packed, each with the modules that it needs, and the type files that they import.
  const packed = [...packedModules, ...workerModules]
  const named = namedTypes()
  const isPacked = name => named.has(`dist/cjs/${name}`) || packed.includes(name)
  // Only one set of type files exists. The types of the ES module entry points refer to it.
  const isOfModules = name =>
    packed.includes(name.replace(/d\.ts$/, 'js')) && /(^|\/)(index|worker|kit)\./.test(name)
  const isWorkerSide = name =>
    (name.startsWith('worker/') && !name.startsWith('worker/run/task-context.')) ||
    workerModules.some(module => name.startsWith(module.replace(/js$/, '')))
  const expected = [
    // The other pages are on the site.
    ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'],
    ...filesIn(join(root, 'bin')).map(name => `bin/${name}`),
    ...modules
      .filter(name => (name.endsWith('.d.ts') ? isOfModules(name) : isPacked(name)))
      .map(name => `dist/esm/${name}`),
    ...firstFiles.map(name => `dist/esm/${name}`),
    'dist/esm/adapters/piscina/index-5.4.d.ts',
    ...forBundlers,
    'dist/cjs/package.json',
    ...modules
      .filter(name => (isPacked(name) && !isWorkerSide(name)) || name === onlyCommonJs)
      .map(name => `dist/cjs/${name}`),
  ]
  assert.deepEqual(filesIn(installedPackage), expected.sort())
})

test(`the tarball has at most ${mostBytes / 1000} kB, and the installed package ${mostInstalledBytes / 1000} kB`, t => {
  const { size } = statSync(tarball)
  const sizes = filesIn(installedPackage).map(name => statSync(join(installedPackage, name)).size)
  const installed = sizes.reduce((sum, bytes) => sum + bytes, 0)
  t.diagnostic(
    `${sizes.length} files, ${(size / 1000).toFixed(1)} kB, installed ${(installed / 1000).toFixed(1)} kB`,
  )
  assert.ok(size <= mostBytes, `${size} bytes`)
  assert.ok(installed <= mostInstalledBytes, `${installed} bytes`)
})

test('the package has no required dependency and no install script', () => {
  const manifest = JSON.parse(readFileSync(join(installedPackage, 'package.json'), 'utf8'))
  assert.equal(manifest.dependencies, undefined)
  for (const name of Object.keys(manifest.peerDependencies)) {
    assert.equal(manifest.peerDependenciesMeta[name].optional, true, name)
  }
  assert.equal(manifest.scripts.postinstall ?? manifest.scripts.install, undefined)
})

test('every file that package.json names is in the package', () => {
  const manifest = JSON.parse(readFileSync(join(installedPackage, 'package.json'), 'utf8'))
  const named = []
  const collect = value => {
    if (typeof value === 'string') named.push(value)
    else for (const inner of Object.values(value)) collect(inner)
  }
  collect([manifest.main, manifest.types, manifest.exports, manifest.typesVersions])
  assert.ok(named.length > 15, `${named.length} names`)
  for (const name of named) assert.ok(statSync(join(installedPackage, name)).isFile(), name)
})

test('publint reports no problem', async () => {
  const bytes = new Uint8Array(readFileSync(tarball)).buffer
  const { messages, pkg } = await publint({ pack: { tarball: bytes }, level: 'suggestion', strict: true })
  // Bundlers that follow `require()` accept CommonJS under the condition `module`. `require('lido/piscina')` must give the class.
  const isExpected = problem =>
    /^pkg\.exports\["[^"]+"\]\.module\.require\.default should be ESM/.test(problem)
  const problems = messages.map(message => formatMessage(message, pkg, { color: false }))
  assert.deepEqual(
    problems.filter(problem => !isExpected(problem)),
    [],
  )
})

test('arethetypeswrong finds correct types for every entry point in every resolution mode', async () => {
  // `moduleResolution: node10` ignores `exports`. It finds the types by `typesVersions`.
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))))
  assert.deepEqual(Object.keys(analysis.entrypoints), [
    '.',
    './worker',
    './kit',
    './piscina',
    './body',
    './express',
    './fastify',
    './nestjs',
    './bullmq',
    './opentelemetry',
    './prometheus',
    './pino',
    './tinypool',
    './workerpool',
    './package.json',
  ])
  for (const [door, { resolutions }] of Object.entries(analysis.entrypoints)) {
    for (const way of ['node10', 'node16-cjs', 'node16-esm', 'bundler']) {
      const { resolution } = resolutions[way]
      assert.ok(resolution, `${door} is not found by ${way}`)
      assert.ok(resolution.isTypeScript || door === './package.json', `${door} has no types for ${way}`)
    }
  }
  assert.deepEqual(analysis.problems, [])
})

// A static import of a Node module makes Node read all exports of that module at start.
test('the main entry point imports no Node module statically', () => {
  const code = readFileSync(join(installedPackage, 'dist/esm/index.js'), 'utf8')
  assert.match(code, /getBuiltinModule\("node:worker_threads"\)/)
  assert.deepEqual(code.match(/\bfrom\s*"node:\w+"/g), null)
})
