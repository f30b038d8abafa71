// Finds out how a project is written: its module system, its language, its test runner and its package manager.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { CommandError } from './command-error.js'

/** Node versions from this one run TypeScript without a loader. */
const stripsTypes = process.features.typescript !== undefined && process.features.typescript !== false
const titles = { vitest: 'Vitest', jest: 'Jest' }
const lockFiles = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
}

/**
 * What `npx lido init` needs to know about the project of a folder:
 * - `isTypeScript`, `isModule`: language and module system
 * - `extension`: of new files, and `importExtension`: in their imports
 * - `runner`: `'node'`, `'vitest'` or `'jest'`
 * - `packages`: the names of the dependencies
 */
export function readProject(folder) {
  const manifestFile = findUp(folder, 'package.json')
  const manifest = manifestFile === null ? {} : readJson(manifestFile)
  const root = manifestFile === null ? folder : dirname(manifestFile)
  const packages = new Set(
    ['dependencies', 'devDependencies', 'peerDependencies'].flatMap(kind =>
      Object.keys(manifest[kind] ?? {}),
    ),
  )
  const configFile = findUp(folder, 'tsconfig.json', root)
  const compiler = configFile === null ? {} : compilerOptions(configFile)
  const checksJavaScript = (compiler.checkJs || compiler.allowJs) && usesJavaScript(folder)
  const isTypeScript = (configFile !== null && !checksJavaScript) || usesTypeScript(folder)
  const runner = ['vitest', 'jest'].find(name => packages.has(name)) ?? 'node'
  // Vitest reads the files of a project as ES modules.
  const isModuleForced = manifestFile === null || runner === 'vitest'
  const language = isTypeScript
    ? typeScript(manifest, compiler)
    : javaScript(folder, manifest, isModuleForced)
  const isStripped = isTypeScript && language.importExtension === '.ts'
  const needsLoader = runner === 'node' && !isStripped
  const tools = isTypeScript ? ['@types/node', ...(needsLoader ? ['tsx'] : [])] : []
  const manager = Object.entries(lockFiles).find(([file]) => existsSync(join(root, file)))?.[1] ?? 'npm'
  return {
    ...language,
    ...{ isTypeScript, runner, packages, hasManifest: manifestFile !== null },
    missingTools: tools.filter(name => !packages.has(name)),
    // An empty list, as `tsc --init` writes it, hides the types of Node. Since TypeScript 6, a missing list is empty.
    lacksNodeTypes: isTypeScript && configFile !== null && compiler.types?.includes?.('node') !== true,
    words: [
      ...(isTypeScript ? ['TypeScript'] : []),
      language.isModule ? 'ES modules' : 'CommonJS',
      ...(runner === 'node' ? [] : [titles[runner]]),
    ].join(', '),
    benchPrefix: benchPrefix(isTypeScript, tools.includes('tsx') || packages.has('tsx')),
    add: (...names) => `${manager} ${manager === 'npm' ? 'install' : 'add'} ${names.join(' ')}`,
    testCommand(file) {
      if (runner === 'vitest') return `npx vitest run ${file}`
      const flag = language.isModule && !isTypeScript ? 'NODE_OPTIONS=--experimental-vm-modules ' : ''
      if (runner === 'jest') return `${flag}npx jest ${file}`
      return isTypeScript && !isStripped ? `npx tsx --test ${file}` : `node --test ${file}`
    },
  }
}

/** What `npx lido bench` needs in front of it. `null` if it cannot load the handler, or if the shell has no word for it. */
function benchPrefix(isTypeScript, hasLoader) {
  if (!isTypeScript || stripsTypes) return ''
  return hasLoader && process.platform !== 'win32' ? "NODE_OPTIONS='--import tsx' " : null
}

/** A text as an argument for the shell of this system. */
export function quoted(text) {
  return process.platform === 'win32' ? `"${text.replaceAll('"', '\\"')}"` : `'${text}'`
}

/** A package without `"type": "module"` has CommonJS in its `.js` files. */
function javaScript(folder, manifest, isModuleForced) {
  const extensions = extensionsIn(folder)
  const hasOnlyModules = extensions.has('.mjs') && !extensions.has('.js')
  const isModule = isModuleForced || manifest.type === 'module' || hasOnlyModules
  const extension = isModule && manifest.type !== 'module' ? '.mjs' : '.js'
  return { isModule, extension, importExtension: extension }
}

function typeScript(manifest, compiler) {
  const emitted = String(compiler.module ?? '').toLowerCase()
  const isOwn = emitted.startsWith('node') || emitted === ''
  const isModule = isOwn ? manifest.type === 'module' : emitted !== 'commonjs'
  // `tsc --init` writes this option. With it, the compiler refuses `import` in a .ts file of CommonJS.
  if (isOwn && !isModule && compiler.verbatimModuleSyntax)
    return { isModule: true, extension: '.mts', importExtension: '.mjs' }
  const allowsTs = compiler.allowImportingTsExtensions || compiler.rewriteRelativeImportExtensions
  // Node takes a .ts file of a package with the type 'module' as an ES module. It does not look for one behind './pool.js'.
  const isStripped = stripsTypes && allowsTs && manifest.type === 'module'
  return { isModule, extension: '.ts', importExtension: isStripped ? '.ts' : '.js' }
}

function usesTypeScript(folder) {
  const extensions = extensionsIn(folder)
  return extensions.has('.ts') && !extensions.has('.js') && !extensions.has('.mjs')
}

function usesJavaScript(folder) {
  const extensions = extensionsIn(folder)
  return ['.js', '.mjs', '.cjs'].some(name => extensions.has(name)) && !extensions.has('.ts')
}

function extensionsIn(folder) {
  if (!existsSync(folder)) return new Set()
  const names = readdirSync(folder).filter(name => !name.endsWith('.d.ts') && !name.includes('.config.'))
  return new Set(names.map(name => /\.[cm]?[jt]s$/.exec(name)?.[0]))
}

/** The nearest file of this name in the folder or above it. `null` without such a file. */
function findUp(folder, name, last) {
  for (let place = folder; ; place = dirname(place)) {
    if (existsSync(join(place, name))) return join(place, name)
    if (place === dirname(place) || place === last) return null
  }
}

/** The compiler options of a `tsconfig.json`, and of the files that it extends by a path. */
function compilerOptions(file, seen = new Set()) {
  if (seen.has(file) || !existsSync(file)) return {}
  seen.add(file)
  const config = readJson(file)
  const bases = [config.extends ?? []].flat().filter(base => base.startsWith('.') || isAbsolute(base))
  const inherited = bases.map(base => {
    const path = resolve(dirname(file), base)
    return compilerOptions(existsSync(path) || path.endsWith('.json') ? path : `${path}.json`, seen)
  })
  return Object.assign({}, ...inherited, config.compilerOptions)
}

/** Reads JSON that may have comments and commas at the end of lists, as `tsconfig.json` may. */
function readJson(file) {
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  const plain = text
    .replaceAll(/("(?:\\.|[^"\\])*")|\/\*[\s\S]*?\*\/|\/\/.*/g, (_, string) => string ?? ' ')
    .replaceAll(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_, string) => string ?? '')
  try {
    return JSON.parse(plain)
  } catch (error) {
    throw new CommandError(`${file} is not readable as JSON: ${error.message}`)
  }
}
