// Builds the package: the code is CommonJS, in dist/cjs. The ES modules in dist/esm export it again, so a program has one class `Pool`.
//   1. tsc compiles the sources to ES modules, and writes the type declarations of both formats.
//   2. esbuild bundles each entry point into one file. One file loads several times faster than a hundred small ones.
//      The bundles become CommonJS, and smaller.
//   3. Entry points for bundlers are added. They embed the code of the workers, so that a bundle needs no other files.
//   4. The type declarations of both formats are reduced to one set.
//
//   node scripts/build.js             build
//   node scripts/build.js --if-stale  build only when a source is newer than the last build
//   node scripts/build.js --check     type-check the sources and the tests, write nothing
//
// For the CommonJS types, a file named `x.cjs.ts` replaces its neighbour `x.ts`.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as bundle, transformSync } from 'esbuild'
import ts from 'typescript'
import { compiler } from './compiler.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const next = join(root, 'build', 'dist')
const stamp = join(dist, '.built')
/** The modules without comments, for the bundles: Node reads each comment when a program or a worker starts. */
const bare = join(root, 'build', 'bare')
/** The code of all kinds of workers. */
const workerCode = 'worker/entry/all.js'
/** The first file of each kind of worker. As CommonJS it starts sooner and takes less memory. */
const firstFiles = {
  thread: "require('./all.cjs').startThread()",
  process: "require('./all.cjs').startProcess()",
  inline: "exports.serveInline = require('./all.cjs').serveInline",
}
/**
 * Handlers may replace these globals, as environments for tests do. Workers keep the first ones. Some runtimes lack one, which is then
 * `undefined`.
 */
const keptGlobals =
  'const { process, Buffer, AbortController, AbortSignal, Promise, Map, Set, WeakMap, WeakRef } = globalThis'
/** Workers load these ES modules. Those of adapters, by the name of the adapter. */
const filesOfWorkers = {
  body: 'adapters/body/parser.js',
  bullmq: 'adapters/bullmq/in-worker.js',
  prometheus: 'adapters/prometheus/in-worker.js',
  tinypool: 'adapters/tinypool/in-worker.js',
  workerpool: 'adapters/workerpool/in-worker.js',
}
const adapters = [
  ...['piscina', 'body', 'express', 'fastify', 'nestjs', 'bullmq', 'opentelemetry', 'prometheus', 'pino'],
  ...['tinypool', 'workerpool'],
]
const typeEntries = ['index.d.ts', 'worker.d.ts', 'kit.d.ts', ...adapterEntries('d.ts')]

/** `require('lido/piscina')` returns the class, whose static members are the other exports. */
const piscina = 'adapters/piscina/index.js'

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

/** Writes only types: the code is made of the ES modules. */
function compileCjsTypes() {
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
        emitDeclarationOnly: true,
      },
      files: ['index.ts', 'worker.ts', 'kit.ts', ...adapterEntries('ts')].map(file => `src/${file}`),
      include: [],
    }),
  )
  compile(join(stage, 'tsconfig.json'))
  writeFileSync(join(next, 'cjs', 'package.json'), '{ "type": "commonjs" }\n')
}

/** Bundles each entry point into one file, in place of the compiled modules. Adapters load `index.js` as a file. */
async function bundleEntryPoints() {
  const entryPoints = ['index.js', 'worker.js', 'kit.js', 'inspection.js', ...adapterEntries('js')]
  const bundles = await bundleModules(entryPoints)
  const forWorkers = await bundleModules(Object.values(filesOfWorkers))
  const [{ text: codeOfWorkers }] = await bundleModules([workerCode], { banner: { js: keptGlobals } })
  for (const entry of readdirSync(join(next, 'esm'), { recursive: true, withFileTypes: true })) {
    const isKept = !entry.name.endsWith('.js') || entry.name === 'module-urls.js'
    if (entry.isFile() && !isKept) rmSync(join(entry.parentPath, entry.name))
  }
  for (const { path, text } of bundles) {
    const file = relative(next, path).replaceAll('\\', '/')
    const { code, exported, packages } = toCommonJs(text, file)
    write(codeFile(file, packages), code)
    if (packages.length > 0) importPackages(file, packages)
    if (file !== 'inspection.js') writeReexport(file, exported, packages)
  }
  for (const { path, text } of forWorkers) write(`esm/${relative(next, path)}`, text)
  write('cjs/worker/entry/all.cjs', toCommonJs(codeOfWorkers, workerCode).code)
  for (const [kind, code] of Object.entries(firstFiles)) {
    write(`cjs/worker/entry/${kind}.cjs`, `'use strict'\n${code}\n`)
  }
}

function write(file, text) {
  mkdirSync(dirname(join(next, file)), { recursive: true })
  writeFileSync(join(next, file), text)
}

/**
 * Makes CommonJS of a bundle. esbuild writes each import on lines of its own, and one `export` at the end. Its own format for CommonJS has a
 * getter for each export, and a call through it is slower. A bundle has no `require()` in a bundled ES module, so modules of Node come from
 * `getBuiltinModule()`.
 * @returns the code, the name of the local variable of each export, and the packages that it imports
 */
function toCommonJs(text, file) {
  const exported = new Map()
  const names = list => list.split(',').map(each => each.trim().split(' as '))
  const packages = new Set()
  const load = from => {
    if (/^"node:/.test(from)) return `process.getBuiltinModule(${from})`
    if (/^"\.\.?\//.test(from)) return `require(${from})`
    packages.add(from)
    return `importedPackages[${from}]`
  }
  const code = text
    .replace(/^import \{([^}]*)\} from ("[^"]+");$/gm, (_, list, from) => {
      const taken = names(list).map(([name, local = name]) => (name === local ? name : `${name}: ${local}`))
      return `const { ${taken.join(', ')} } = ${load(from)};`
    })
    .replace(/^import \* as (\w+) from ("[^"]+");$/gm, (_, name, from) => `const ${name} = ${load(from)};`)
    .replace(/^import ("[^"]+");$/gm, (_, from) => `${load(from)};`)
    .replace(/^export \{([^}]*)\};$/m, (_, list) => {
      for (const [local, name = local] of names(list)) exported.set(name, local)
      return ''
    })
  const left = exported.size === 0 ? ['it has no export'] : /^(import|export)\b(?! *\().*$/m.exec(code)
  if (left !== null) throw new Error(`${file} does not become CommonJS: ${left[0]}`)
  const members = [...exported].map(([name, local]) => (name === local ? name : `${name}: ${local}`))
  // Compiled `import`s look for this mark before they read the default export.
  if (exported.has('default')) members.push('__esModule: true')
  const value = file === piscina ? exported.get('Piscina') : `{ ${members.join(', ')} }`
  const imported =
    packages.size > 0 ? 'const { importedPackages } = require("../../index.js").kitParts;\n' : ''
  const short = shorten(`"use strict";\n${imported}${code}`)
  return { code: `${short}\nmodule.exports = ${value}\n`, exported, packages: [...packages].sort() }
}

/**
 * Makes the code smaller. Functions of modules, classes and methods keep their names, so that a stack trace can be read. Local variables,
 * functions inside functions and private members get short names.
 */
function shorten(code) {
  // A class that uses its own name has two names. Its `name` is the inner one.
  const withOneName = [...code.matchAll(/^var (\w+) = class (_\1)\b/gm)].reduce(
    (text, [, name, inner]) =>
      text.replace(`= class ${inner}`, '= class').replace(new RegExp(`(?<![\\w$#.])${inner}\\b`, 'g'), name),
    code,
  )
  // esbuild removes comments, also those in an import() that tell bundlers to leave it as it is.
  const ignored = /\bimport\(\s*((?:\/\*.*?\*\/\s*)+)/g
  const comments = [...withOneName.matchAll(ignored)].map(([, each]) => each.replace(/\n\s*/g, ' '))
  const marked = withOneName.replace(ignored, 'importWithComments(')
  const { code: short } = transformSync(marked, { minify: true, target: 'node20' })
  const restored = short.replace(/\bimportWithComments\(/g, () => `import(${comments.shift()}`)
  if (comments.length > 0 || restored.includes('import(undefined'))
    throw new Error('An import() lost its comments')
  return inLines(restored)
}

/** Begins a line at each statement, variable and member of a class. Rollup would change strings that esbuild breaks into lines. */
function inLines(code) {
  const file = ts.createSourceFile('bundle.js', code, ts.ScriptTarget.Latest, true)
  const isInList = ({ parent }) => parent === file || ts.isBlock(parent) || ts.isCaseOrDefaultClause(parent)
  const isFurtherVariable = node =>
    ts.isVariableDeclaration(node) &&
    node.parent.parent.parent === file &&
    node !== node.parent.declarations[0]
  const starts = []
  const visit = node => {
    const isStatement = ts.isStatement(node) && isInList(node)
    if (isStatement || ts.isClassElement(node) || isFurtherVariable(node)) starts.push(node.getStart(file))
    ts.forEachChild(node, visit)
  }
  visit(file)
  let text = ''
  let from = 0
  for (const start of starts) {
    text += `${code.slice(from, start)}\n`
    from = start
  }
  return (text + code.slice(from)).trim()
}

/**
 * Writes the ES module that exports what the CommonJS file of the same name exports. A small CommonJS file is between them: Node reads the
 * whole text of a CommonJS file that an ES module imports, to find the names of its exports. For `index.js` this took longer than its code.
 */
function writeReexport(file, exported, packages) {
  const named = [...exported.keys()].filter(name => name !== 'default').sort()
  const bridge = file.replace(/js$/, 'cjs')
  const source = JSON.stringify(`./${basename(bridge)}`)
  const target = `${'../'.repeat(file.split('/').length)}${codeFile(file, packages)}`
  const names = named.join(', ')
  write(
    `esm/${bridge}`,
    `'use strict'\nconst all = require('${target}')\nmodule.exports = all\n0 && (module.exports = { ${names} })\n`,
  )
  const first = packages.length > 0 ? "import './packages.js'\n" : ''
  const twin = named.find(name => exported.get(name) === exported.get('default'))
  if (file === piscina) {
    const statics = named.filter(name => name !== 'Piscina')
    write(
      `esm/${file}`,
      `import Piscina from ${source}\nexport { Piscina, Piscina as default }\nexport const { ${statics.join(', ')} } = Piscina\n`,
    )
  } else if (!exported.has('default')) write(`esm/${file}`, `${first}export { ${names} } from ${source}\n`)
  else if (twin !== undefined)
    write(`esm/${file}`, `export { ${names}, ${twin} as default } from ${source}\n`)
  else {
    // Node gives `module.exports` as default, and some bundlers its property `default`.
    const byDefault = `import * as all from ${source}\nexport default all.default.default ?? all.default\n`
    write(`esm/${file}`, `export { ${names} } from ${source}\n${byDefault}`)
  }
}

/** An adapter that imports packages of the user has its code in a file of its own. */
function codeFile(file, packages) {
  return packages.length > 0 ? `cjs/${dirname(file)}/code.js` : `cjs/${file}`
}

/**
 * Writes how an adapter gets packages of the user: by `import` for ES modules, and by `require()` for CommonJS. A bundle of ES modules must
 * not contain the `require()` of a package that is not in the bundle.
 */
function importPackages(file, packages) {
  const folder = dirname(file)
  const imports = packages.map((from, index) => `import * as package${index} from ${from}\n`)
  const given = packages.map((from, index) => `kitParts.importedPackages[${from}] = package${index}\n`)
  write(
    `esm/${folder}/packages.js`,
    `${imports.join('')}import { kitParts } from '../../index.js'\n${given.join('')}`,
  )
  const required = packages.map(from => `importedPackages[${from}] ??= require(${from})\n`)
  write(
    `cjs/${file}`,
    `'use strict'\nconst { importedPackages } = require('../../index.js').kitParts\n${required.join('')}module.exports = require('./code.js')\n`,
  )
}

/** The code of all kinds of workers as an expression: an object with a function for each kind. */
async function workerText() {
  const [{ text }] = await bundleModules([workerCode], {
    format: 'iife',
    globalName: 'code',
    minify: true,
    lineLimit: 500,
  })
  // The code runs as an ES module, which has no `require`.
  return `(() => {${keptGlobals};const require = process.getBuiltinModule;${text}return code})()`
}

/** Bundlers load these entry points in place of `index.js`. The condition `module` of package.json names them. */
async function addEntryPointsForBundlers() {
  const code = JSON.stringify(await workerText())
  write(
    'esm/for-bundlers.js',
    `import { kitParts } from './index.js'\nkitParts.embedWorkerCode(${code}, import.meta.url)\nexport * from './index.js'\n`,
  )
  for (const name of adapters) {
    const folder = `esm/adapters/${name}`
    const hasDefault = / default\b/.test(readFileSync(join(next, folder, 'index.js'), 'utf8'))
    const embedding = Object.hasOwn(filesOfWorkers, name)
      ? `import { kitParts } from '../../index.js'\nimport { fileUrl } from './module-urls.js'\nkitParts.embedUrl('${name}', fileUrl)\n`
      : ''
    const exported = `export * from './index.js'\n${hasDefault ? "export { default } from './index.js'\n" : ''}`
    write(`${folder}/for-bundlers.js`, `import '../../for-bundlers.js'\n${embedding}${exported}`)
  }
  // `require('lido/piscina')` returns the class, also in a bundle.
  write(
    piscina.replace(/^/, 'cjs/').replace('index.js', 'for-bundlers.js'),
    `require('../../../esm/for-bundlers.js')\nmodule.exports = require('./index.js')\n`,
  )
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

/** Bundles compiled ES modules. */
async function bundleModules(entries, others = {}) {
  const keepSeparate = {
    name: 'keep separate',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^#atomics$/ }, () => ({ path: join(bare, 'shared', 'platform', 'atomics.js') }))
      // The comments in its import() are orders for bundlers.
      onLoad({ filter: /\bhost[\\/]backend[\\/]inline-backend\.js$/ }, ({ path }) => ({
        contents: readFileSync(path.replace(bare, join(next, 'esm')), 'utf8'),
      }))
      // `index.js` has this code as well.
      onLoad({ filter: /\bbare[\\/]kit\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, 'utf8').replace(
          /^export (\{[^}]*\}) from '\.\/shared\/.*$/gm,
          'export const $1 = kitParts',
        ),
      }))
      onResolve({ filter: /^\.\.\/inspection\.js$/ }, () => ({ path: './inspection.js', external: true }))
      onResolve({ filter: /^(\.\.\/){2}(index|worker|kit)\.js$/ }, ({ path }) => ({ path, external: true }))
      onResolve({ filter: /^\.\/index\.js$/ }, ({ path, importer }) =>
        importer === join(bare, 'kit.js') ? { path, external: true } : undefined,
      )
      onResolve({ filter: /^\.\.\/(body|piscina)\/index\.js$/ }, ({ path }) => ({ path, external: true }))
    },
  }
  const { outputFiles } = await bundle({
    absWorkingDir: bare,
    entryPoints: entries.map(entry => join(bare, entry)),
    outbase: bare,
    outdir: next,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
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
  compileCjsTypes()
  await bundleEntryPoints()
  await addEntryPointsForBundlers()
  shareTypes()
  removeUnreachableTypes()
  allowMissingTypes()
  writeFileSync(join(next, '.built'), '')
  // A program that loads the package during the build sees the old files or the new ones, never a mixture.
  rmSync(dist, { recursive: true, force: true, maxRetries: 5 })
  renameSync(next, dist)
}
