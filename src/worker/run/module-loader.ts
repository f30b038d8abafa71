// Loads the files of handlers and finds functions in them. A thread evaluates a file once. A handler's name is an own
// member of the module or of its default export, in this order. A module may export `setup`,
// which runs before its first handler, and `teardown`, which runs before the worker exits.
import { FUNCTION_TEXT } from '../../shared/messages/function-text.js'
import { type HandlerRef, loadingFiles, MODULE_OPTION } from '../../shared/messages/handler-ref.js'
import { extname, getBuiltinModule, pathToFileURL } from '../../shared/platform/node-modules.js'
import { fileMeantBy } from '../../shared/platform/source-file.js'
import { within } from '../../shared/platform/within.js'
import { workerClock } from './clock.js'
import { runFunctionText } from './function-text.js'
import { readWithoutPool } from './read-without-pool.js'
import { withSyntaxPlace } from './syntax-place.js'

export type HandlerFunction = (payload: unknown) => unknown
type Hook = () => unknown

/**
 * Extensions that the loader passes to `import()`. For other extensions it tries `require()` first, if a hook is
 * installed. ts-node and similar tools install hooks for `require()` only. They support more than Node, such as `enum`
 * and paths without an extension.
 */
const IMPORTED_EXTENSIONS = new Set(['.js', '.mjs', '.cjs', '.json'])

/** The names of Node's own hooks for TypeScript. Node 22.12 (with a flag) and 24.2 list them among the hooks. */
const NODE_HOOK_NAME = /^load([CM]?TS|ESMFromCJS)$/

/** The time after which a call loads a failed file again. Until then calls get the same error. */
const RETRY_AFTER_MS = 1000

interface LoadedFile {
  namespace: Promise<object>
  /** `null` while the file has not failed. */
  failedAt: number | null
  attempt: number
}

const loadedFiles = new Map<string, LoadedFile>()
/** For each module with a teardown, the number of workers on this thread that use it. The last worker runs it. */
const teardownUsers = new WeakMap<object, number>()
/** The modules whose `setup` has run or runs now on this thread. */
const setups = new WeakMap<object, Promise<unknown>>()

/** The modules that one worker has loaded. Inline workers share a thread, and so its modules. */
export type ExportNames = readonly string[]

export class ModuleLoader {
  readonly #ownsThread: boolean
  readonly #setupTimeoutMs: number
  readonly #onTeardown: () => void
  readonly #loadModule: (() => object | Promise<object>) | null
  /** For each module that this worker uses. */
  readonly #teardowns = new Map<object, Hook | null>()
  #hasEnded = false

  /**
   * @param ownsThread true when no other worker runs on this thread
   * @param setupTimeoutMs how long a `setup` may take; 0: it is not called
   * @param onTeardown called when a module with a teardown is loaded, before any of its handlers runs
   * @param loadModule returns the pool's option `module`
   */
  constructor(
    ownsThread: boolean,
    setupTimeoutMs: number,
    onTeardown: () => void,
    loadModule: (() => object | Promise<object>) | null = null,
  ) {
    this.#ownsThread = ownsThread
    this.#setupTimeoutMs = setupTimeoutMs
    this.#onTeardown = onTeardown
    this.#loadModule = loadModule
  }

  /** Returns the names of its functions when the file has none of that name. Rejects with the error of the file or of its `setup`. */
  async load({ filename, name, call, wrapper }: HandlerRef): Promise<HandlerFunction | ExportNames> {
    if (filename === FUNCTION_TEXT) return runFunctionText
    const namespace =
      filename === MODULE_OPTION ? await this.#loadModule!() : await loadFile(filename, this.#ownsThread)
    if (this.#setupTimeoutMs > 0) await setUp(namespace, this.#setupTimeoutMs)
    if (!this.#hasEnded && !this.#teardowns.has(namespace)) this.#addTeardown(namespace)
    const handler = await findHandler(namespace, name)
    if (handler === null) return functionNames(namespace)
    if (wrapper !== undefined) return await wrapped(handler, wrapper)
    if (call !== 'arguments') return handler
    return (args: unknown) => handler(...(args as [unknown]))
  }

  /** True when the file also failed on a later attempt. A new worker can help, because a thread caches a broken import. */
  hasFailedAgain({ filename }: HandlerRef): boolean {
    const file = loadedFiles.get(filename)
    return file !== undefined && file.failedAt !== null && file.attempt > 0
  }

  /** Call it when the worker exits. Returns the teardowns to run. Modules that load later do not add a teardown. */
  takeTeardowns(): Hook[] {
    this.#hasEnded = true
    const due: Hook[] = []
    for (const [namespace, teardown] of this.#teardowns) {
      if (teardown === null) continue
      const otherUsers = teardownUsers.get(namespace)! - 1
      if (otherUsers > 0) teardownUsers.set(namespace, otherUsers)
      else {
        teardownUsers.delete(namespace)
        // An inline worker that starts later finds the same module, and needs it set up again.
        setups.delete(namespace)
        due.push(teardown)
      }
    }
    this.#teardowns.clear()
    return due
  }

  #addTeardown(namespace: object): void {
    const teardown = findHook(namespace, 'teardown')
    this.#teardowns.set(namespace, teardown)
    if (teardown === null) return
    teardownUsers.set(namespace, (teardownUsers.get(namespace) ?? 0) + 1)
    this.#onTeardown()
  }
}

/** @param ownsThread true: marks the file as loading, so that it cannot create a pool of itself in each new worker */
function loadFile(filename: string, ownsThread: boolean): Promise<object> {
  const known = loadedFiles.get(filename)
  if (known !== undefined && !mayRetry(known)) return known.namespace
  const attempt = known === undefined ? 0 : known.attempt + 1
  const source = fileMeantBy(filename) ?? filename
  if (ownsThread) loadingFiles().add(source)
  const namespace = evaluate(source, attempt, ownsThread).catch(async failure => {
    throw await withSyntaxPlace(failure, source)
  })
  const file: LoadedFile = { namespace, failedAt: null, attempt }
  loadedFiles.set(filename, file)
  file.namespace.then(
    () => loadingFiles().delete(source),
    () => {
      loadingFiles().delete(source)
      file.failedAt = workerClock.now()
    },
  )
  return file.namespace
}

function mayRetry({ failedAt }: LoadedFile): boolean {
  return failedAt !== null && workerClock.now() - failedAt >= RETRY_AFTER_MS
}

/** Prefers `import()`, because Node 20 to 24 abort when a worker is terminated inside `require()` of an ES module. */
async function evaluate(filename: string, attempt: number, ownsThread: boolean): Promise<object> {
  const extension = extname(filename)
  if (extension === '.node') return { default: requireFrom(filename)(filename) }
  if (IMPORTED_EXTENSIONS.has(extension)) return importFile(filename, attempt, ownsThread)
  const require = requireFrom(filename)
  // tsx has no hooks for `.mts` and `.cts`. Its hook for `.js` loads these files.
  const hook =
    require.extensions[extension] ?? (/^\.[cm]ts$/.test(extension) ? require.extensions['.ts'] : undefined)
  if (hook === undefined || NODE_HOOK_NAME.test(hook.name)) return importFile(filename, attempt, ownsThread)
  try {
    return { default: require(filename) }
  } catch (failure) {
    if (!mayBeEsModule(failure)) throw failure
    return importFile(filename, attempt, ownsThread).catch(() => {
      throw failure
    })
  }
}

/** True for the errors of `require()` for an ES module. No code of the module has run, so `import()` may try it. */
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

async function importFile(filename: string, attempt: number, ownsThread: boolean): Promise<object> {
  const url = pathToFileURL(filename)
  // Node caches a failed import by its URL, so another attempt needs another URL.
  if (attempt > 0) url.searchParams.set('attempt', String(attempt))
  const load = (): Promise<object> => import(url.href)
  return ownsThread ? readWithoutPool(load) : load()
}

async function wrapped(handler: HandlerFunction, wrapper: string): Promise<HandlerFunction> {
  const { wrap }: { wrap?: unknown } = await import(pathToFileURL(wrapper).href)
  const result = typeof wrap === 'function' ? await wrap(handler) : undefined
  if (typeof result === 'function') return result as HandlerFunction
  throw new TypeError(`The wrapper '${wrapper}' must export a function 'wrap' that returns a function.`)
}

/** Loads `node:module` only here, because loading it takes long and few handlers need it. */
function requireFrom(filename: string): NodeJS.Require {
  return getBuiltinModule('node:module').createRequire(filename)
}

async function findHandler(namespace: object, name: string): Promise<HandlerFunction | null> {
  const inner = Object.hasOwn(namespace, 'default') ? await ownMember(namespace, 'default') : undefined
  if (name === 'default') return asFunction(inner) ?? asFunction(await ownMember(inner, 'default'))
  return asFunction(await ownMember(namespace, name)) ?? asFunction(await ownMember(inner, name))
}

/** The functions that a call may name. A getter of the module may throw. */
function functionNames(namespace: object): ExportNames {
  const isFunction = (container: unknown, name: string) => {
    try {
      return asFunction(ownMember(container, name)) !== null
    } catch {
      return false
    }
  }
  const inner = isFunction(namespace, 'default') ? undefined : ownMember(namespace, 'default')
  const names = [namespace, Object(inner)].flatMap(container =>
    Object.keys(container).filter(
      name => name !== 'setup' && name !== 'teardown' && isFunction(container, name),
    ),
  )
  return [...new Set(names)].filter(name => name !== 'module.exports')
}

/** Runs the `setup` of a module once on this thread. After a failure the next task runs it again. */
function setUp(namespace: object, limitMs: number): Promise<unknown> | undefined {
  const known = setups.get(namespace)
  if (known !== undefined) return known
  const setup = findHook(namespace, 'setup')
  if (setup === null) return undefined
  const done = withinLimit(setup, limitMs, 'setup()')
  setups.set(namespace, done)
  done.catch(() => setups.delete(namespace))
  return done
}

/** Rejects when `work` takes longer. The work goes on then. */
export async function withinLimit<T>(work: () => T, limitMs: number, name: string): Promise<Awaited<T>> {
  const done = (async () => await work())()
  return await within(workerClock, limitMs, done, () => {
    throw new Error(`${name} did not finish within ${limitMs} ms. Make it faster, or raise setupTimeout.`)
  })
}

/** A getter of the module may throw. Then the module has no such hook. */
function findHook(namespace: object, name: 'setup' | 'teardown'): Hook | null {
  try {
    const hook =
      asFunction(ownMember(namespace, name)) ?? asFunction(ownMember(ownMember(namespace, 'default'), name))
    return hook === null ? null : () => hook(undefined)
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
