// The content of the tarball, and the verdicts of publint and arethetypeswrong.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { installedPackage, root, tarball } from './installed.js'
import { reachedTypes } from './reached-types.js'

const mostBytes = 420_000
const mostInstalledBytes = 2_000_000

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath ?? entry.path, entry.name)).replaceAll('\\', '/'))
    .sort()
}

const adapters = [
  ...['piscina', 'body', 'express', 'fastify', 'nestjs', 'bullmq', 'opentelemetry', 'prometheus', 'pino'],
  ...['tinypool', 'workerpool'],
]
/** The entry points, without their extension. */
const doors = ['index', 'worker', 'kit', ...adapters.map(name => `adapters/${name}/index`)]
/** Workers load these modules. */
const workerModules = [
  'adapters/body/parser.js',
  'adapters/bullmq/in-worker.js',
  'adapters/prometheus/in-worker.js',
  'adapters/tinypool/in-worker.js',
  'adapters/workerpool/in-worker.js',
]
/** These adapters import packages of the user, in one file for each format. Their code is in a third. */
const importing = ['bullmq', 'nestjs', 'opentelemetry', 'pino', 'prometheus']
/** The first files of workers, and their common code. The names say their format, because programs may copy them. */
const firstFiles = ['all', 'inline', 'process', 'thread'].map(kind => `worker/entry/${kind}.cjs`)
/** Bundlers load these in place of the entry points. `require('lido/piscina')` gives the class, so it has a file of its own. */
const forBundlers = [
  ...['', ...adapters.map(name => `adapters/${name}/`)].map(folder => `esm/${folder}for-bundlers.js`),
  ...workerModules.map(file => `esm/${dirname(file)}/module-urls.js`),
  'cjs/adapters/piscina/for-bundlers.js',
]

/** The type files that the entry points of the installed package import, directly or indirectly. */
function namedTypes() {
  const packageUrl = pathToFileURL(`${installedPackage}/`)
  const found = new Set()
  for (const door of doors)
    for (const format of ['esm', 'cjs'])
      reachedTypes(new URL(`dist/${format}/${door}.d.ts`, packageUrl), found)
  return new Set([...found].map(href => href.slice(packageUrl.href.length)))
}

test('the tarball holds the code once, the types once and four pages, and nothing else', () => {
  const expected = [
    ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json'],
    ...filesIn(join(root, 'bin')).map(name => `bin/${name}`),
    ...[...doors, 'inspection'].map(name => `dist/cjs/${name}.js`),
    ...firstFiles.map(name => `dist/cjs/${name}`),
    'dist/cjs/package.json',
    ...doors.flatMap(name => [`dist/esm/${name}.js`, `dist/esm/${name}.cjs`]),
    ...workerModules.map(name => `dist/esm/${name}`),
    ...importing.flatMap(name => [
      `dist/esm/adapters/${name}/packages.js`,
      `dist/cjs/adapters/${name}/code.js`,
    ]),
    ...forBundlers.map(name => `dist/${name}`),
    ...namedTypes(),
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

// Bundlers cannot keep `require()` of a module of Node, or of a package that is not in the bundle, in a bundle of ES modules.
test('the code in bundles requires only files of lido', () => {
  for (const name of doors) {
    const adapter = importing.find(each => name === `adapters/${each}/index`)
    const file = adapter === undefined ? name : `adapters/${adapter}/code`
    const code = readFileSync(join(installedPackage, `dist/cjs/${file}.js`), 'utf8')
    assert.deepEqual(code.match(/\brequire\(["'][^."'][^"']*["']\)/g), null, file)
  }
})
