// From a file and a name to a function. A file is evaluated once; a name reaches own members only, of the module or of
// what it exports by default.

import type { Handler } from '../shared/messages/handler.js'
import { loadingFiles } from '../shared/messages/loading.js'
import { extname, getBuiltinModule, pathToFileURL } from '../shared/platform/node-modules.js'
import { realClock } from './clock.js'

export type HandlerFunction = (payload: unknown) => unknown

/**
 * Node's own. Of others `require()` is asked first where a hook taught it: ts-node and its like teach it alone, and mean
 * more than Node, whose `import()` of TypeScript knows no `enum` and no path without an extension.
 */
const IMPORTED = new Set(['.js', '.mjs', '.cjs', '.json'])

/** How Node names its own for TypeScript where it lists them among the hooks, as 22.12 (with a flag) and 24.2 do. */
const NODES_HOOK = /^load([CM]?TS|ESMFromCJS)$/

/** How long a file that failed to load keeps its error before a call tries it again. */
const RETRY_AFTER_MS = 1000

interface Loaded {
  namespace: Promise<object>
  /** When it failed; `null` while it has not. */
  failedAt: number | null
  attempt: number
}

const files = new Map<string, Loaded>()
/** What is being loaded where this worker was started from: for all it knows, until its first file is loaded. */
let above: readonly string[] = []

export function noteAbove(filenames: readonly string[]): void {
  above = filenames
  for (const filename of above) loadingFiles().add(filename)
}

/** The function, or `null` when the module has none of that name. */
export async function findHandler(namespace: object, name: string): Promise<HandlerFunction | null> {
  const inner = Object.hasOwn(namespace, 'default') ? await ownMember(namespace, 'default') : undefined
  if (name === 'default') return asFunction(inner) ?? asFunction(await ownMember(inner, 'default'))
  return asFunction(await ownMember(namespace, name)) ?? asFunction(await ownMember(inner, name))
}

/**
 * Rejects with what the file threw.
 * @param isThreadsOwn each worker evaluates the file anew: one that makes a pool of itself meanwhile would go on for ever
 */
export function loadFile(filename: string, isThreadsOwn: boolean): Promise<object> {
  const known = files.get(filename)
  if (known !== undefined && !isWorthRetrying(known)) return known.namespace
  const attempt = known === undefined ? 0 : known.attempt + 1
  const loading = loadingFiles()
  if (isThreadsOwn) loading.add(filename)
  const loaded: Loaded = { namespace: evaluate(filename, attempt), failedAt: null, attempt }
  files.set(filename, loaded)
  loaded.namespace.then(
    () => {
      for (const name of [filename, ...above]) loading.delete(name)
      above = []
    },
    () => {
      loading.delete(filename)
      loaded.failedAt = realClock.now()
    },
  )
  return loaded.namespace
}

/** True when trying the file again did not help: what it imports may be remembered as broken by this thread. */
export function hasFailedAgain({ filename }: Handler): boolean {
  const loaded = files.get(filename)
  return loaded !== undefined && loaded.failedAt !== null && loaded.attempt > 0
}

function isWorthRetrying(loaded: Loaded): boolean {
  return loaded.failedAt !== null && realClock.now() - loaded.failedAt >= RETRY_AFTER_MS
}

/** `import()` for everything it takes: Node 20 to 24 abort when a worker is ended inside `require()` of an ES module. */
async function evaluate(filename: string, attempt: number): Promise<object> {
  const extension = extname(filename)
  if (extension === '.node') return { default: requireFrom(filename)(filename) }
  if (IMPORTED.has(extension)) return importFile(filename, attempt)
  const require = requireFrom(filename)
  const hook = require.extensions[extension]
  if (hook === undefined || NODES_HOOK.test(hook.name)) return importFile(filename, attempt)
  try {
    return { default: require(filename) }
  } catch (failure) {
    if (!isOfModules(failure)) throw failure
    return importFile(filename, attempt).catch(() => {
      throw failure
    })
  }
}

/** What becomes of an ES module that is taken for a script, or waits as it loads: nothing of it has run, and `import()` may take it. */
function isOfModules(failure: unknown): boolean {
  const { name, code } = Object(failure) as NodeJS.ErrnoException
  // The second is esbuild's, which tsx compiles with.
  return (
    name === 'SyntaxError' ||
    name === 'TransformError' ||
    code === 'ERR_REQUIRE_ESM' ||
    code === 'ERR_REQUIRE_ASYNC_MODULE'
  )
}

async function importFile(filename: string, attempt: number): Promise<object> {
  const url = pathToFileURL(filename)
  // The loader remembers failures by URL; another URL is another attempt.
  if (attempt > 0) url.searchParams.set('attempt', String(attempt))
  return await import(url.href)
}

/** Asked for here: it takes long to load, and few handlers need it. */
function requireFrom(filename: string): NodeJS.Require {
  return getBuiltinModule('node:module').createRequire(filename)
}

function ownMember(container: unknown, name: string): unknown {
  if (container === null || (typeof container !== 'object' && typeof container !== 'function'))
    return undefined
  return Object.hasOwn(container, name) ? (container as Record<string, unknown>)[name] : undefined
}

/** What the module wants done before its worker ends; a module is the user's: to look at it may throw. */
export function findTeardown(namespace: object): (() => unknown) | null {
  try {
    const teardown =
      asFunction(ownMember(namespace, 'teardown')) ??
      asFunction(ownMember(ownMember(namespace, 'default'), 'teardown'))
    return teardown === null ? null : () => teardown(undefined)
  } catch {
    return null
  }
}

function asFunction(value: unknown): HandlerFunction | null {
  return typeof value === 'function' ? (value as HandlerFunction) : null
}
