// Loads the files of handlers and finds functions in them. A thread evaluates a file once. A name reaches own members only: those
// of the module, then those of its default export. A module may export `teardown`, which runs before the worker ends.
import { type HandlerRef, loadingFiles } from '../../shared/messages/handler-ref.js'
import { extname, getBuiltinModule, pathToFileURL } from '../../shared/platform/node-modules.js'
import { workerClock } from './clock.js'

export type HandlerFunction = (payload: unknown) => unknown
type Teardown = () => unknown

/**
 * Files that Node's `import()` loads. Other files go to `require()` first, if a hook for their extension is installed: ts-node
 * and similar tools teach `require()` alone, and they support more than Node, such as `enum` and paths without an extension.
 */
const IMPORTED_EXTENSIONS = new Set(['.js', '.mjs', '.cjs', '.json'])

/** The names of Node's own hooks for TypeScript. Node 22.12 (with a flag) and 24.2 list them among the hooks. */
const NODE_HOOK_NAME = /^load([CM]?TS|ESMFromCJS)$/

/** How long a file that failed to load keeps its error before a call loads it again. */
const RETRY_AFTER_MS = 1000

interface LoadedFile {
  namespace: Promise<object>
  /** `null` while the file has not failed. */
  failedAt: number | null
  attempt: number
}

const loadedFiles = new Map<string, LoadedFile>()
/** For each file with a teardown, the number of workers on this thread that loaded it. The last one runs the teardown. */
const teardownUsers = new Map<string, number>()

/** The modules that one worker has loaded. Inline workers share a thread, and so its modules. */
export class ModuleLoader {
  readonly #ownsThread: boolean
  readonly #onTeardown: () => void
  readonly #teardowns = new Map<string, Teardown | null>()
  #hasEnded = false

  /**
   * @param ownsThread no other worker runs on this thread
   * @param onTeardown a module with a teardown was loaded, and none of its handlers was called yet
   */
  constructor(ownsThread: boolean, onTeardown: () => void) {
    this.#ownsThread = ownsThread
    this.#onTeardown = onTeardown
  }

  /** Returns `null` when the file has no function of that name. Rejects with the error of the file. */
  async load({ filename, name }: HandlerRef): Promise<HandlerFunction | null> {
    const namespace = await loadFile(filename, this.#ownsThread)
    if (!this.#hasEnded && !this.#teardowns.has(filename)) this.#addTeardown(filename, namespace)
    return findHandler(namespace, name)
  }

  /** Called when the worker ends. Returns the teardowns to run, and ignores those of modules that load later. */
  takeTeardowns(): Teardown[] {
    this.#hasEnded = true
    const due: Teardown[] = []
    for (const [filename, teardown] of this.#teardowns) {
      if (teardown === null) continue
      const otherUsers = teardownUsers.get(filename)! - 1
      if (otherUsers > 0) teardownUsers.set(filename, otherUsers)
      else {
        teardownUsers.delete(filename)
        due.push(teardown)
      }
    }
    this.#teardowns.clear()
    return due
  }

  #addTeardown(filename: string, namespace: object): void {
    const teardown = findTeardown(namespace)
    this.#teardowns.set(filename, teardown)
    if (teardown === null) return
    teardownUsers.set(filename, (teardownUsers.get(filename) ?? 0) + 1)
    this.#onTeardown()
  }
}

/** True when the file failed again on a later attempt. This thread may remember a broken import, so a new worker may help. */
export function hasFailedAgain({ filename }: HandlerRef): boolean {
  const file = loadedFiles.get(filename)
  return file !== undefined && file.failedAt !== null && file.attempt > 0
}

/** @param ownsThread the file must not create a pool of itself while it loads: each worker would create another pool */
function loadFile(filename: string, ownsThread: boolean): Promise<object> {
  const known = loadedFiles.get(filename)
  if (known !== undefined && !mayRetry(known)) return known.namespace
  const attempt = known === undefined ? 0 : known.attempt + 1
  if (ownsThread) loadingFiles().add(filename)
  const file: LoadedFile = { namespace: evaluate(filename, attempt), failedAt: null, attempt }
  loadedFiles.set(filename, file)
  file.namespace.then(
    () => loadingFiles().delete(filename),
    () => {
      loadingFiles().delete(filename)
      file.failedAt = workerClock.now()
    },
  )
  return file.namespace
}

function mayRetry({ failedAt }: LoadedFile): boolean {
  return failedAt !== null && workerClock.now() - failedAt >= RETRY_AFTER_MS
}

/** Prefers `import()`: Node 20 to 24 abort when a worker is terminated inside `require()` of an ES module. */
async function evaluate(filename: string, attempt: number): Promise<object> {
  const extension = extname(filename)
  if (extension === '.node') return { default: requireFrom(filename)(filename) }
  if (IMPORTED_EXTENSIONS.has(extension)) return importFile(filename, attempt)
  const require = requireFrom(filename)
  const hook = require.extensions[extension]
  if (hook === undefined || NODE_HOOK_NAME.test(hook.name)) return importFile(filename, attempt)
  try {
    return { default: require(filename) }
  } catch (failure) {
    if (!mayBeEsModule(failure)) throw failure
    return importFile(filename, attempt).catch(() => {
      throw failure
    })
  }
}

/** `require()` fails with these errors on an ES module. Nothing of the module has run then, so `import()` may try it. */
function mayBeEsModule(failure: unknown): boolean {
  const { name, code } = Object(failure) as NodeJS.ErrnoException
  return (
    name === 'SyntaxError' ||
    // From esbuild, which tsx uses.
    name === 'TransformError' ||
    code === 'ERR_REQUIRE_ESM' ||
    code === 'ERR_REQUIRE_ASYNC_MODULE'
  )
}

async function importFile(filename: string, attempt: number): Promise<object> {
  const url = pathToFileURL(filename)
  // Node remembers a failed import by its URL, so another attempt needs another URL.
  if (attempt > 0) url.searchParams.set('attempt', String(attempt))
  return await import(url.href)
}

/** `node:module` takes long to load and few handlers need it. */
function requireFrom(filename: string): NodeJS.Require {
  return getBuiltinModule('node:module').createRequire(filename)
}

async function findHandler(namespace: object, name: string): Promise<HandlerFunction | null> {
  const inner = Object.hasOwn(namespace, 'default') ? await ownMember(namespace, 'default') : undefined
  if (name === 'default') return asFunction(inner) ?? asFunction(await ownMember(inner, 'default'))
  return asFunction(await ownMember(namespace, name)) ?? asFunction(await ownMember(inner, name))
}

/** A getter of the module may throw. Then the module has no teardown. */
function findTeardown(namespace: object): Teardown | null {
  try {
    const teardown =
      asFunction(ownMember(namespace, 'teardown')) ??
      asFunction(ownMember(ownMember(namespace, 'default'), 'teardown'))
    return teardown === null ? null : () => teardown(undefined)
  } catch {
    return null
  }
}

function ownMember(container: unknown, name: string): unknown {
  if (container === null || (typeof container !== 'object' && typeof container !== 'function'))
    return undefined
  return Object.hasOwn(container, name) ? (container as Record<string, unknown>)[name] : undefined
}

function asFunction(value: unknown): HandlerFunction | null {
  return typeof value === 'function' ? (value as HandlerFunction) : null
}
