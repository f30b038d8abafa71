// What a worker runs first: a file of this package. In a program whose bundle contains lido, that file is often missing. So the entry
// points for bundlers (package.json, condition `module`) embed the same code as text.
import type { BackendKind } from '../../api/worker-view.js'
import { isMadeByNext, nextAdvice } from '../../shared/errors/load-advice.js'
import { PACKAGE_FILE_MISSING } from '../../shared/errors/pool-errors.js'
import { existsSync, fileURLToPath } from '../../shared/platform/node-modules.js'
import { workerCodeUrl } from './entry-url.js'

/** Exported functions of `worker/entry/all.ts`. */
const starts = { thread: 'startThread', process: 'startProcess' } as const

let embedded: string | null = null

/**
 * Bun also loads the entry points for bundlers where it runs this package as it is. Then workers start from the files.
 * @param code an expression: the exports of `worker/entry/all.ts`
 * @param ownUrl the URL of `for-bundlers.js`, or of the bundle that contains it
 */
export function embedWorkerCode(code: string, ownUrl: string | undefined): void {
  const file = '../cjs/worker/entry/thread.cjs'
  if ('bun' in process.versions && existsSync(fileURLToPath(new URL(file, ownUrl)))) return
  embedded = code
}

/**
 * The program that starts a worker of this kind, as the text of an ES module. `null`: the worker starts from a file. As a script, it would
 * give handlers `require` and `module`, and a thread would ignore `--import`.
 */
export function embeddedCode(kind: Exclude<BackendKind, 'inline'>): string | null {
  return embedded === null ? null : `${embedded}.${starts[kind]}()\n//# sourceURL=lido-${kind}.mjs`
}

/** Bun runs every text as a module, and knows no such flag. */
export const moduleFlags: readonly string[] = 'bun' in process.versions ? [] : ['--input-type=module']

/** The exports of the file that inline workers load. `null`: load the file. */
export function embeddedInline(): unknown {
  return embedded === null ? null : new Function(`return ${embedded}\n//# sourceURL=lido-inline.mjs`)()
}

export class MissingPackageFileError extends Error {
  readonly code = PACKAGE_FILE_MISSING

  /** @param path a path, or an address that a bundler made; `null` when it is unknown */
  constructor(path: string | null) {
    const what = path === null ? "lido's own files cannot be found" : `lido's own file ${path} is missing`
    super(`${what}: the bundler of this program did not copy lido's files. ${adviceFor(path)}`)
    this.name = 'MissingPackageFileError'
  }
}

function adviceFor(path: string | null): string {
  if (path !== null && isMadeByNext(path)) return nextAdvice
  return "Set the condition 'module' in the bundler (esbuild: conditions: ['module']; bun build: --conditions=module). lido then brings the code of its workers into the bundle. Or leave lido out of the bundle (esbuild: packages: 'external'; webpack: externals; Rollup: external), and install it where the program runs."
}

/** Throws `MissingPackageFileError` when `locate` finds no file. After a bundler changed lido, it may throw. */
export function packageFile(locate: () => URL): URL {
  let url: URL
  try {
    url = locate()
  } catch {
    throw new MissingPackageFileError(null)
  }
  // For webpack, Next.js sets an address of its web server.
  if (url.protocol !== 'file:') throw new MissingPackageFileError(String(url))
  return url
}

/** Why a worker ended before it was ready: `MissingPackageFileError` if a file of this package is missing, else `failure`. */
export function startFailureCause(entry: () => URL, failure?: unknown): unknown {
  if (embedded !== null || failure instanceof MissingPackageFileError) return failure
  const missing = [entry(), workerCodeUrl()].map(url => fileURLToPath(url)).find(path => !existsSync(path))
  return missing === undefined ? failure : new MissingPackageFileError(missing)
}
