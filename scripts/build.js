// Builds the package twice: dist/esm, and dist/cjs for those who cannot load ES modules. tsc compiles; then each door
// becomes one file, because to load a hundred small ones takes several times as long, in the program and in each worker.
//   node scripts/build.js             build
//   node scripts/build.js --if-stale  build only when a source is newer than the last build
//   node scripts/build.js --check     type-check the sources and the tests, write nothing
// In the CommonJS pass a file named `x.cjs.ts` stands in for its neighbour `x.ts`.
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
/** It says where workers begin. As CommonJS it stays where it is; of the ES modules the front door says it, from where it is. */
const entryUrl = './host/backend/entry-url.js'
/** Files that say where others are: they stay where they are, and differ between the builds. */
const places = { esm: ['./adapters/body/place.js'], cjs: ['./adapters/body/place.js', entryUrl] }
/** The first file of a thread or a process. As CommonJS it runs sooner, and takes less memory. */
const firstFiles = ['worker/entry.js', 'worker/process-entry.js']
const adapters = ['piscina', 'body', 'express', 'fastify', 'nestjs']
const cjsFooters = {
  // For `require()` the module is the class.
  'adapters/piscina/index.js': 'module.exports = module.exports.Piscina',
  // It has a default beside its names; only so do those see it who read a module without running it.
  'adapters/fastify/index.js': '0 && (exports.default = module.exports.default)',
}

function compile(project, ...flags) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', project, ...flags], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

function adapterDoors(extension) {
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
}

function compileCjs() {
  const stage = join(root, 'build', 'cjs')
  rmSync(stage, { recursive: true, force: true })
  cpSync(join(root, 'src'), join(stage, 'src'), { recursive: true })
  for (const entry of readdirSync(join(stage, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.cjs.ts')) continue
    const standIn = join(entry.parentPath, entry.name)
    renameSync(standIn, standIn.replace(/\.cjs\.ts$/, '.ts'))
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
      files: ['index.ts', 'worker/index.ts', ...adapterDoors('ts')].map(file => `src/${file}`),
      include: [],
    }),
  )
  compile(join(stage, 'tsconfig.json'))
  writeFileSync(join(next, 'cjs', 'package.json'), '{ "type": "commonjs" }\n')
}

/** Puts all that a door needs into its file. What bundlers look for stays apart, and adapters enter by the front door. */
async function bundleDoors() {
  const doors = ['index.js', 'worker/index.js']
  // Workers run these whoever started them.
  const shared = ['worker/inline-entry.js', 'adapters/body/parser.js']
  const esm = await bundleFor('esm', [...doors, ...adapterDoors('js'), ...shared])
  const plain = adapterDoors('js').filter(door => !Object.hasOwn(cjsFooters, door))
  const cjs = await bundleFor('cjs', [...doors, ...plain])
  for (const [door, footer] of Object.entries(cjsFooters))
    cjs.push(...(await bundleFor('cjs', [door], { footer: { js: footer } })))
  const outExtension = { '.js': '.cjs' }
  esm.push(...(await bundleFor('cjs', firstFiles, { outdir: join(next, 'esm'), outExtension })))
  for (const format of ['esm', 'cjs']) {
    const folder = join(next, format)
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const isPlace = places[format].some(place => path === join(folder, place))
      if (entry.isFile() && path.endsWith('.js') && !isPlace) rmSync(path)
    }
  }
  for (const { path, contents } of [...esm, ...cjs]) writeFileSync(path, contents)
  for (const file of firstFiles) keepBuiltins(join(next, 'esm', file.replace(/js$/, 'cjs')))
}

/**
 * Of the types there is one set, that of CommonJS: ES modules may import it, and it cannot import theirs. The doors of the ES
 * modules name it, so that a class is one type, and what frameworks' types learn is said once, in a program of both kinds.
 */
function shareTypes() {
  nameAtomicsByPath()
  const own = ['index.d.ts', 'worker/index.d.ts', ...adapterDoors('d.ts')].map(door =>
    join(next, 'esm', door),
  )
  for (const entry of readdirSync(join(next, 'esm'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && path.endsWith('.d.ts') && !own.includes(path)) rmSync(path)
  }
  for (const door of own) {
    const folder = dirname(door)
    const shared = (found, quote, specifier) => {
      const target = join(folder, specifier)
      if (own.includes(target.replace(/js$/, 'd.ts'))) return found
      const path = relative(folder, target.replace(join(next, 'esm'), join(next, 'cjs'))).replaceAll(
        '\\',
        '/',
      )
      return quote + path + quote
    }
    writeFileSync(door, readFileSync(door, 'utf8').replace(/(['"])(\.\.?\/[^'"]+)\1/g, shared))
  }
}

/** Types that no door names, nor one that it names, are nobody's to see. */
function dropUnnamedTypes() {
  const named = new Set()
  const follow = path => {
    if (named.has(path) || !existsSync(path)) return
    named.add(path)
    for (const [, , specifier] of readFileSync(path, 'utf8').matchAll(/(['"])(\.\.?\/[^'"]+)\1/g))
      follow(join(dirname(path), specifier.replace(/js$/, 'd.ts')))
  }
  for (const format of ['esm', 'cjs'])
    for (const door of ['index.d.ts', 'worker/index.d.ts', ...adapterDoors('d.ts')])
      follow(join(next, format, door))
  for (const entry of readdirSync(next, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.name.endsWith('.d.ts') && !named.has(path)) rmSync(path)
  }
}

/** A name of package.json's `imports` is none that every way of resolving types knows. */
function nameAtomicsByPath() {
  const folder = join(next, 'cjs')
  const atomics = join(folder, 'shared', 'platform', 'atomics.js')
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.d.ts')) continue
    const path = join(entry.parentPath, entry.name)
    const types = readFileSync(path, 'utf8')
    if (!types.includes("'#atomics'")) continue
    const found = relative(entry.parentPath, atomics).replaceAll('\\', '/')
    writeFileSync(path, types.replaceAll("'#atomics'", `'${found}'`))
  }
}

/**
 * As an ES module it would keep the members of Node's modules as it found them; what a handler puts in their place is no
 * concern of the pool.
 */
function keepBuiltins(path) {
  const text = readFileSync(path, 'utf8')
  const kept = text.replace(/\bvar (import_node_\w+)\s*=\s*(require\("node:\w+"\))/g, (_, name, module) => {
    const used = text.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))
    const members = [...new Set([...used].map(([, member]) => member))].join()
    return `var ${name}=(({${members}})=>({${members}}))(${module})`
  })
  if (/[=,;]\s*require\("node:/.test(kept)) throw new Error(`a module of Node is not kept in ${path}`)
  writeFileSync(path, kept)
}

/** In the sources it names them as they are in the tests' own build, from its own folder. */
function entryUrlAtTheFrontDoor({ path }) {
  let contents = readFileSync(path, 'utf8').replaceAll('../../worker/', './worker/')
  for (const file of firstFiles) {
    if (!contents.includes(`./${file}`)) throw new Error(`${entryUrl} does not name ${file}`)
    contents = contents.replace(file, file.replace(/js$/, 'cjs'))
  }
  return { contents }
}

/** Both formats are made of the ES modules. */
async function bundleFor(format, entries, others = {}) {
  const folder = join(next, 'esm')
  const stayApart = {
    name: 'stay apart',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^#atomics$/ }, () => ({ path: join(folder, 'shared', 'platform', 'atomics.js') }))
      if (format === 'esm') onLoad({ filter: /\bentry-url\.js$/ }, entryUrlAtTheFrontDoor)
      else onResolve({ filter: /\bentry-url\.js$/ }, () => ({ path: entryUrl, external: true }))
      onResolve({ filter: /^\.\/place\.js$/ }, ({ path }) => ({ path, external: true }))
      onResolve({ filter: /^(\.\.\/){2}(worker\/)?index\.js$/ }, ({ path }) => ({ path, external: true }))
      onResolve({ filter: /^\.\.\/(body|piscina)\/index\.js$/ }, ({ path }) => ({ path, external: true }))
    },
  }
  const { outputFiles } = await bundle({
    entryPoints: entries.map(entry => join(folder, entry)),
    outbase: folder,
    outdir: join(next, format),
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    packages: 'external',
    // Every program and every worker reads it: names stay, comments and blanks go. Short lines, so that a stack says where.
    minifyWhitespace: true,
    lineLimit: 120,
    // What package.json says of side effects it says of the files that are packed.
    ignoreAnnotations: true,
    logLevel: 'error',
    plugins: [stayApart],
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
  rmSync(next, { recursive: true, force: true })
  compileEsm()
  compileCjs()
  await bundleDoors()
  shareTypes()
  dropUnnamedTypes()
  writeFileSync(join(next, '.built'), '')
  // Put in place whole, so that whoever runs the package meanwhile sees the old build or the new one.
  rmSync(dist, { recursive: true, force: true })
  renameSync(next, dist)
}
