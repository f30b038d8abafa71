// Builds the package: dist/esm, and dist/cjs for programs that cannot load ES modules.
//   1. tsc compiles the sources to both formats.
//   2. esbuild bundles each entry point into one file. One file loads several times faster than a hundred small ones.
//      The files keep names and line breaks, so that a stack trace leads to readable code.
//   3. Entry points for bundlers are added. They embed the code of the workers, so that a bundle needs no other files.
//   4. The type declarations of both formats are reduced to one set.
//
//   node scripts/build.js             build
//   node scripts/build.js --if-stale  build only when a source is newer than the last build
//   node scripts/build.js --check     type-check the sources and the tests, write nothing
//
// In the CommonJS build a file named `x.cjs.ts` replaces its neighbour `x.ts`.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import { compiler } from './compiler.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const next = join(root, 'build', 'dist')
const stamp = join(dist, '.built')
/** The modules without comments, for the bundles: Node reads each comment when a program or a worker starts. */
const bare = join(root, 'build', 'bare')
/** Has the URLs of the worker entries. The CommonJS build keeps the file. `index.js` of the ES modules includes it. */
const entryUrl = './host/backend/entry-url.js'
const moduleUrls = ['body', 'bullmq', 'nestjs', 'prometheus', 'tinypool', 'workerpool'].map(
  name => `./adapters/${name}/module-urls.js`,
)
/** Files that hold paths relative to themselves. They are not bundled, and differ between the formats. */
const unbundled = {
  esm: moduleUrls,
  cjs: [...moduleUrls, entryUrl],
}
/** The first files of a thread and of a process. As CommonJS they start sooner and take less memory. */
const workerEntries = ['worker/entry/thread.js', 'worker/entry/process.js']
const inlineEntry = 'worker/entry/inline.js'
/**
 * Handlers may replace these globals, as environments for tests do. Workers keep the first ones. Some runtimes lack one, which is then
 * `undefined`.
 */
const keptGlobals =
  'const { process, Buffer, AbortController, AbortSignal, Promise, Map, Set, WeakMap, WeakRef } = globalThis'
/** A program may copy these files into a folder without `"type": "module"`, so their names say the format. */
const namesOfEntries = [
  ...workerEntries.map(file => [file, file.replace(/js$/, 'cjs')]),
  [inlineEntry, inlineEntry.replace(/js$/, 'mjs')],
]
const adapters = [
  ...['piscina', 'body', 'express', 'fastify', 'nestjs', 'bullmq', 'opentelemetry', 'prometheus', 'pino'],
  ...['tinypool', 'workerpool'],
]
const typeEntries = ['index.d.ts', 'worker.d.ts', 'kit.d.ts', ...adapterEntries('d.ts')]
const cjsFooters = {
  // `require('lido/piscina')` returns the class.
  'adapters/piscina/index.js': 'module.exports = module.exports.Piscina',
  // Names the default export for tools that read a module without running it.
  'adapters/fastify/index.js': '0 && (exports.default = module.exports.default)',
}

function compile(project, ...flags) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', project, ...flags], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

function adapterEntries(extension) {
  return adapters.map(name => `adapters/${name}/index.${extension}`)
}

function newestSource() {
  const times = ['package.json', 'tsconfig.json'].map(name => statSync(join(root, name)).mtimeMs)
  for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) times.push(statSync(join(entry.parentPath, entry.name)).mtimeMs)
  }
  return Math.max(...times)
}

function compileEsm() {
  compile('tsconfig.json', '--outDir', join(next, 'esm'))
  compile('tsconfig.json', '--outDir', bare, '--removeComments', '--declaration', 'false')
}

function compileCjs() {
  const stage = join(root, 'build', 'cjs')
  rmSync(stage, { recursive: true, force: true })
  cpSync(join(root, 'src'), join(stage, 'src'), { recursive: true })
  for (const entry of readdirSync(join(stage, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.cjs.ts')) continue
    const replacement = join(entry.parentPath, entry.name)
    renameSync(replacement, replacement.replace(/\.cjs\.ts$/, '.ts'))
  }
  writeFileSync(join(stage, 'package.json'), '{ "type": "commonjs" }\n')
  writeFileSync(
    join(stage, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: {
        rootDir: 'src',
        outDir: '../dist/cjs',
        paths: { '#atomics': ['./src/shared/platform/atomics.ts'] },
        verbatimModuleSyntax: false,
        erasableSyntaxOnly: false,
      },
      files: ['index.ts', 'worker.ts', 'kit.ts', 'inspection.ts', ...adapterEntries('ts')].map(
        file => `src/${file}`,
      ),
      include: [],
    }),
  )
  compile(join(stage, 'tsconfig.json'))
  writeFileSync(join(next, 'cjs', 'package.json'), '{ "type": "commonjs" }\n')
}

/** Bundles each entry point into one file and removes the bundled modules. Adapters import `index.js` as a file. */
async function bundleEntryPoints() {
  const entryPoints = ['index.js', 'worker.js', 'kit.js', 'inspection.js']
  // Workers load these. Both formats of the package use the same files.
  const loadedByWorkers = [
    'adapters/body/parser.js',
    'adapters/bullmq/in-worker.js',
    'adapters/prometheus/in-worker.js',
    'adapters/tinypool/in-worker.js',
    'adapters/workerpool/in-worker.js',
  ]
  const esm = await bundleFor('esm', [...entryPoints, ...adapterEntries('js'), ...loadedByWorkers])
  const withoutFooter = adapterEntries('js').filter(file => !Object.hasOwn(cjsFooters, file))
  const cjs = await bundleFor('cjs', [...entryPoints, ...withoutFooter])
  for (const [file, footer] of Object.entries(cjsFooters))
    cjs.push(...(await bundleFor('cjs', [file], { footer: { js: footer } })))
  const outdir = join(next, 'esm')
  const banner = { js: keptGlobals }
  esm.push(...(await bundleFor('cjs', workerEntries, { outdir, banner, outExtension: { '.js': '.cjs' } })))
  esm.push(...(await bundleFor('esm', [inlineEntry], { banner, outExtension: { '.js': '.mjs' } })))
  for (const format of ['esm', 'cjs']) {
    const folder = join(next, format)
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const isUnbundled = unbundled[format].some(file => path === join(folder, file))
      if (entry.isFile() && path.endsWith('.js') && !isUnbundled) rmSync(path)
    }
  }
  for (const { path, contents } of [...esm, ...cjs]) writeFileSync(path, contents)
}

/** The code of all kinds of workers as an expression: an object with a function for each kind. */
async function workerCode() {
  const kinds = ['thread', 'process', 'inline']
  const entries = kinds.map(kind => `${kind}: () => require('./worker/entry/${kind}.js')`)
  const [{ text }] = await bundleFor('iife', [], {
    stdin: { contents: `module.exports = { ${entries.join(', ')} }`, resolveDir: bare },
    outfile: join(next, 'worker-code.js'),
    outdir: undefined,
    globalName: 'code',
    minify: true,
    lineLimit: 500,
  })
  // The code runs as an ES module, which has no `require`.
  return `(() => {${keptGlobals};const require = process.getBuiltinModule;${text}return code})()`
}

/** Bundlers load these entry points in place of `index.js`. The condition `module` of package.json names them. */
async function addEntryPointsForBundlers() {
  const code = JSON.stringify(await workerCode())
  const write = (format, file, source) => writeFileSync(join(next, format, file), source)
  write(
    'esm',
    'for-bundlers.js',
    `import { kitParts } from './index.js'\nkitParts.embedWorkerCode(${code})\nexport * from './index.js'\n`,
  )
  write(
    'cjs',
    'for-bundlers.js',
    `const index = require('./index.js')\nindex.kitParts.embedWorkerCode(${code})\nmodule.exports = index\n`,
  )
  for (const name of adapters) {
    const folder = `adapters/${name}`
    const hasDefault = / as default\b/.test(readFileSync(join(next, 'esm', folder, 'index.js'), 'utf8'))
    const exported = `export * from './index.js'\n${hasDefault ? "export { default } from './index.js'\n" : ''}`
    write('esm', `${folder}/for-bundlers.js`, `import '../../for-bundlers.js'\n${exported}`)
    write(
      'cjs',
      `${folder}/for-bundlers.js`,
      `require('../../for-bundlers.js')\nmodule.exports = require('./index.js')\n`,
    )
  }
}

/**
 * Keeps only the CommonJS types: ES modules may import CommonJS types, but not the other way round. The types of the ES
 * modules' entry points refer to them. A class is then one type in a program that uses both formats. The declarations
 * that extend a framework's types exist once.
 */
function shareTypes() {
  nameAtomicsByPath()
  const entryTypes = typeEntries.map(file => join(next, 'esm', file))
  for (const entry of readdirSync(join(next, 'esm'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && path.endsWith('.d.ts') && !entryTypes.includes(path)) rmSync(path)
  }
  for (const file of entryTypes) {
    const folder = dirname(file)
    const toSharedTypes = (found, quote, specifier) => {
      const target = join(folder, specifier)
      if (entryTypes.includes(target.replace(/js$/, 'd.ts'))) return found
      const path = relative(folder, target.replace(join(next, 'esm'), join(next, 'cjs'))).replaceAll(
        '\\',
        '/',
      )
      return quote + path + quote
    }
    writeFileSync(file, readFileSync(file, 'utf8').replace(/(['"])(\.\.?\/[^'"]+)\1/g, toSharedTypes))
  }
}

/** Names that only the types of Node or of the DOM declare. */
const borrowedName =
  /from 'node:|import\(["'](?:node:)?\w+["']\)|\b(?:AbortSignal|URL|ReadableStream|WritableStream|Buffer)\b|\bNodeJS\.|Symbol\.(?:asyncD|d)ispose/

/** Lets a program without these types check the declarations. Each such type is then `any`. */
function allowMissingTypes() {
  for (const entry of readdirSync(next, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.ts')) continue
    const path = join(entry.parentPath, entry.name)
    const lines = readFileSync(path, 'utf8').split('\n')
    const marked = lines.flatMap(line =>
      !/^\s*(?:\/?\*|\/\/)/.test(line) && borrowedName.test(line) ? ['// @ts-ignore', line] : [line],
    )
    writeFileSync(path, marked.join('\n'))
  }
}

/** TypeScript before 5.6 cannot read the export 'module.exports', so it gets declarations without that export. */
function addOlderTypes() {
  const path = join(next, 'esm', 'adapters', 'piscina', 'index.d.ts')
  const older = readFileSync(path, 'utf8').replace(", Piscina as 'module.exports'", '')
  writeFileSync(path.replace('index.d.ts', 'index-5.4.d.ts'), older)
}

/** Removes the type declarations that no entry point imports, directly or through others. */
function removeUnreachableTypes() {
  const reachable = new Set()
  const follow = path => {
    if (reachable.has(path) || !existsSync(path)) return
    reachable.add(path)
    for (const [, , specifier] of readFileSync(path, 'utf8').matchAll(/(['"])(\.\.?\/[^'"]+)\1/g))
      follow(join(dirname(path), specifier.replace(/js$/, 'd.ts')))
  }
  for (const format of ['esm', 'cjs']) for (const file of typeEntries) follow(join(next, format, file))
  for (const entry of readdirSync(next, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.name.endsWith('.d.ts') && !reachable.has(path)) rmSync(path)
  }
}

/** Replaces `#atomics` in types by a path, because `moduleResolution: node10` ignores the `imports` of package.json. */
function nameAtomicsByPath() {
  const folder = join(next, 'cjs')
  const atomics = join(folder, 'shared', 'platform', 'atomics.js')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.ts')) continue
    const path = join(entry.parentPath, entry.name)
    const types = readFileSync(path, 'utf8')
    if (!types.includes("'#atomics'")) continue
    const specifier = relative(entry.parentPath, atomics).replaceAll('\\', '/')
    writeFileSync(path, types.replaceAll("'#atomics'", `'${specifier}'`))
  }
}

/** Changes the URLs of the worker entries for a file that becomes part of `dist/esm/index.js`. */
function entryUrlInIndex({ path }) {
  let contents = readFileSync(path, 'utf8').replaceAll('../../worker/', './worker/')
  for (const [file, name] of namesOfEntries) {
    if (!contents.includes(`./${file}`)) throw new Error(`${entryUrl} does not name ${file}`)
    contents = contents.replace(file, name)
  }
  return { contents }
}

/** Bundles compiled ES modules, for both formats. */
async function bundleFor(format, entries, others = {}) {
  const folder = bare
  const keepSeparate = {
    name: 'keep separate',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^#atomics$/ }, () => ({ path: join(folder, 'shared', 'platform', 'atomics.js') }))
      if (format === 'esm') onLoad({ filter: /\bentry-url\.js$/ }, entryUrlInIndex)
      else onResolve({ filter: /\bentry-url\.js$/ }, () => ({ path: entryUrl, external: true }))
      // The comments in its import() are orders for bundlers.
      onLoad({ filter: /\bhost[\\/]backend[\\/]inline-backend\.js$/ }, ({ path }) => ({
        contents: readFileSync(path.replace(bare, join(next, 'esm')), 'utf8'),
      }))
      onResolve({ filter: /^\.\.\/inspection\.js$/ }, () => ({ path: './inspection.js', external: true }))
      onResolve({ filter: /^\.\/module-urls\.js$/ }, ({ path }) => ({ path, external: true }))
      onResolve({ filter: /^(\.\.\/){2}(index|worker|kit)\.js$/ }, ({ path }) => ({ path, external: true }))
      onResolve({ filter: /^\.\/index\.js$/ }, ({ path, importer }) =>
        importer === join(folder, 'kit.js') ? { path, external: true } : undefined,
      )
      onResolve({ filter: /^\.\.\/(body|piscina)\/index\.js$/ }, ({ path }) => ({ path, external: true }))
    },
  }
  const { outputFiles } = await bundle({
    absWorkingDir: folder,
    entryPoints: entries.map(entry => join(folder, entry)),
    outbase: folder,
    outdir: join(next, format),
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    packages: 'external',
    // `sideEffects` of package.json describes the packed files, not the modules that are bundled here.
    ignoreAnnotations: true,
    logLevel: 'error',
    plugins: [keepSeparate],
    write: false,
    ...others,
  })
  return outputFiles
}

const mode = process.argv[2]
if (mode === '--check') {
  compile('tsconfig.json', '--noEmit')
  compile('tsconfig.test.json', '--noEmit')
} else if (mode !== '--if-stale' || !existsSync(stamp) || statSync(stamp).mtimeMs < newestSource()) {
  for (const folder of [next, bare]) rmSync(folder, { recursive: true, force: true })
  compileEsm()
  compileCjs()
  await bundleEntryPoints()
  await addEntryPointsForBundlers()
  shareTypes()
  removeUnreachableTypes()
  addOlderTypes()
  allowMissingTypes()
  writeFileSync(join(next, '.built'), '')
  // A program that loads the package during the build sees the old files or the new ones, never a mixture.
  rmSync(dist, { recursive: true, force: true, maxRetries: 5 })
  renameSync(next, dist)
}
