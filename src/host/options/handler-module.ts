// The option `module`. `module: () => import('./work.js')` names the handler's file: lido reads the path from the text of the function and
// does not call it. Bundlers emit the file and change the path in the text, so the text is right in every build. Inline workers run in
// the program's own thread, so for them lido calls the function.

import { nextAdvice } from '../../shared/errors/load-advice.js'
import { messageOf } from '../../shared/errors/serialize-error.js'
import { describe } from '../../shared/options/option-table.js'
import {
  existsSync,
  fileURLToPath,
  getBuiltinModule,
  isAbsolute,
  join,
  statSync,
} from '../../shared/platform/node-modules.js'
import { shorten } from '../../shared/platform/shorten.js'
import { fileMeantBy } from '../../shared/platform/source-file.js'
import { HandlerFileProblem, resolvePoolFile } from './handler-file.js'

/** Imports the module of the handlers. */
export type ModuleThunk = () => Promise<object>

const RULE = "must be a function with one import of a constant path, as in () => import('./work.js')"
/** A server of Next.js sets the variable. Turbopack has no plug-ins. */
const PLUG_IN =
  process.env.NEXT_RUNTIME !== undefined
    ? nextAdvice.slice(0, -1)
    : 'If a bundler changed it, add the plug-in of the package lido-bundle to the build. Or make the handler an entry of the build, and name the built file by the option filename'

/** Strings, which stay, and comments. */
const STRING_OR_COMMENT = /(["'`])(?:\\[\s\S]|(?!\1)[\s\S])*\1|\/\*[\s\S]*?\*\/|\/\/.*/g
/**
 * The calls that load a module: the path in quotes or in backticks, then a comma or the end of the call, with a `.` that reads a part of the result.
 * Compilers to CommonJS make `require()` of an import, and Vite has a function of its own.
 */
const LOADS =
  /(?<![\w$.])(?:import|require|__\w*dynamic_import\w*__)\s*\(\s*(?:(["'])((?:\\.|(?!\1).)*)\1|`([^`$]*)`)?\s*(,|\)(?:\s*\)?\s*(?:\??\.|\[))?)?/g

const EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']

/** A module that is itself a function, as CommonJS allows, has a parameter for the payload. */
export function isThunk(module: unknown): module is ModuleThunk {
  return typeof module === 'function' && module.length === 0
}

/**
 * The file that the function imports.
 * @param base the file whose directory a relative path starts from; a folder is taken as it is
 */
export function fileOfThunk(
  thunk: ModuleThunk,
  base: string | null,
  callerFile: () => string | null,
): string | HandlerFileProblem {
  const specifier = specifierOf(Function.prototype.toString.call(thunk))
  if (specifier instanceof HandlerFileProblem) return specifier
  const file = fileOf(specifier, base ?? callerFile())
  if (base === null || (typeof file === 'string' && (existsSync(file) || fileMeantBy(file) !== null)))
    return file
  // Nitro gives each chunk of a build the same `import.meta.url`.
  const besideCaller = fileOf(specifier, callerFile())
  return typeof besideCaller === 'string' && existsSync(besideCaller) ? besideCaller : file
}

/** For options of adapters. The problem is a text for an error, after the name of the option. */
export function importedFile(
  thunk: ModuleThunk,
  base: string | URL | undefined,
): string | { problem: string } {
  const from = baseOf(base)
  const file = from instanceof HandlerFileProblem ? from : fileOfThunk(thunk, from, () => null)
  return file instanceof HandlerFileProblem ? { problem: file.text } : file
}

/** What inline workers call to get the module. The program's function is called once, and again after a failure. */
export function loadOnce(module: object): () => object | Promise<object> {
  if (!isThunk(module)) {
    const namespace = typeof module === 'function' ? { default: module } : module
    return () => namespace
  }
  let loaded: Promise<object> | null = null
  return () => {
    loaded ??= callThunk(module)
    loaded.catch(() => {
      loaded = null
    })
    return loaded
  }
}

async function callThunk(thunk: ModuleThunk): Promise<object> {
  const module: unknown = await thunk()
  if (module !== null && typeof module === 'object') return module
  throw new TypeError(
    `The function of the option 'module' returned ${describe(module)}. It must return a module, as () => import('./work.js') does. For a single function, write module: { default: yourFunction }.`,
  )
}

function specifierOf(text: string): string | HandlerFileProblem {
  const code = text.replace(STRING_OR_COMMENT, found => (found.startsWith('/') ? ' ' : found))
  const calls = [...code.matchAll(LOADS)]
  const shown = shorten(text)
  if (calls.length === 0) {
    return new HandlerFileProblem(`${RULE}. The text of the function is now '${shown}'. ${PLUG_IN}`)
  }
  const paths = calls.map(([, , inQuotes, inBackticks]) => withoutEscapes(inQuotes ?? inBackticks))
  if (calls.some(([, , , , end], index) => paths[index] === undefined || end === undefined)) {
    return new HandlerFileProblem(
      `${RULE}. Here the path is not a constant: '${shown}'. For a path that is computed, use the option filename`,
    )
  }
  if (new Set(paths).size > 1) {
    return new HandlerFileProblem(
      `${RULE}. Here the function imports ${paths.map(path => `'${path}'`).join(' and ')}. Create a pool for each file, or let one file export all handlers`,
    )
  }
  // tsx adds a function that returns the module, or the object that a compiler to CommonJS made of it.
  const isChanged = calls.some(
    ({ 4: end, index }) => end!.length > 1 || /\}\s*=\s*await\s*$/.test(code.slice(0, index)),
  )
  if (isChanged && !code.includes('__esModule')) {
    return new HandlerFileProblem(
      `${RULE}, and it must return the module itself. Here the function changes the module: '${shown}'. ${PLUG_IN}`,
    )
  }
  return paths[0]!
}

/** Compilers write `ö` as `\xF6` or `\u00F6`. */
function withoutEscapes(text: string | undefined): string | undefined {
  return text?.replace(/\\(?:x(..)|u\{(.+?)\}|u(....)|(.))/g, (_, short, long, point, character) => {
    const code = short ?? long ?? point
    return code === undefined ? character : String.fromCodePoint(Number.parseInt(code, 16))
  })
}

function fileOf(given: string, from: string | null): string | HandlerFileProblem {
  if (given.startsWith('file:')) return resolvePoolFile(given)
  // The development server of Vite adds a query.
  const specifier = given.replace(/(?!^)[?#].*$/, '')
  if (isAbsolute(specifier)) return fromRoot(specifier, from)
  if (/^\.{1,2}(\/|$)/.test(specifier)) {
    if (from !== null) return relativeTo(from, specifier)
    return new HandlerFileProblem(
      `imports '${given}', but the file that creates the pool is not known. Add the option base: import.meta.url (in CommonJS: base: __filename)`,
    )
  }
  const file = specifier.startsWith('#')
    ? privateImport(specifier, from)
    : resolvePoolFile(specifier, () => from)
  if (!(file instanceof HandlerFileProblem)) return file
  return new HandlerFileProblem(
    `imports '${given}', which is neither a relative path nor a package that Node.js can find. lido does not know the aliases of TypeScript and of bundlers. Write a relative path, or add the plug-in of the package lido-bundle to the build`,
    file.cause,
  )
}

/** @param base the file, or the folder, from whose folder the path starts */
export function relativeTo(base: string, path: string): string {
  return existing(join(folderOf(base), path))
}

/**
 * The development server of Vite writes paths from the root of the project, or `/@fs/` before an absolute path. On Windows it writes
 * `/@fs/C:/app/work.js`.
 */
function fromRoot(path: string, from: string | null): string | HandlerFileProblem {
  const absolute = existing(path.replace(/^\/@fs(?=\/)(?:\/(?=[a-z]:\/))?/i, ''))
  if (existsSync(absolute)) return absolute
  for (let folder = from === null ? process.cwd() : folderOf(from), parent: string; ; folder = parent) {
    const inFolder = existing(join(folder, path))
    if (existsSync(inFolder)) return inFolder
    parent = join(folder, '..')
    if (parent === folder) break
  }
  return new HandlerFileProblem(
    `imports '${path}', which does not exist, and neither does a file of this path in ${from ?? 'the working directory'} or in a folder above. Add the option base: import.meta.url (in CommonJS: base: __filename), or correct the path`,
  )
}

/**
 * The path itself, or with the extension of the file that exists. A loader may find another file by the path. The separators are those of
 * the system, because paths of files are compared.
 */
function existing(given: string): string {
  const path = join(given)
  if (fileMeantBy(path) !== null) return path
  const extended = ['', ...EXTENSIONS, ...EXTENSIONS.map(extension => join(`/index${extension}`))]
  const found = extended.find(ending => isFile(path + ending))
  return found === undefined ? path : path + found
}

function privateImport(specifier: string, from: string | null): string | HandlerFileProblem {
  try {
    return getBuiltinModule('node:module')
      .createRequire(from ?? '/')
      .resolve(specifier)
  } catch (failure) {
    return new HandlerFileProblem(messageOf(failure), failure)
  }
}

function folderOf(base: string): string {
  return /[\\/]$/.test(base) || isFolder(base) ? base : join(base, '..')
}

function isFile(path: string): boolean {
  return existsSync(path) && !isFolder(path)
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** The value of the option `base` as a path. `null`: not given. */
export function baseOf(given: unknown): string | null | HandlerFileProblem {
  if (given === undefined || given === null) return null
  if (typeof given === 'string' && isAbsolute(given)) return given
  try {
    return fileURLToPath(given as string | URL)
  } catch (failure) {
    return new HandlerFileProblem(
      `must be the file that creates the pool: import.meta.url, or __filename in CommonJS. Got ${describe(given)}`,
      failure,
    )
  }
}
