// Node 20, Node 22 before 22.18 and Node 24 before 24.3 read ES modules in libuv's thread pool. All threads of the
// process share this pool. Native work can fill it, for example the work of cancelled tasks. Then a new worker could not
// load its handler until this work ends. So on these versions a worker reads the files on its own thread.
// See docs/design/0028.
import { getBuiltinModule, getFsPromises, readFileSync } from '../../shared/platform/node-modules.js'

type ReadFile = typeof import('node:fs/promises').readFile

/**
 * A version number, because no property of Node tells how it reads modules. Replacing the function on each version would
 * load `node:fs/promises` in each worker, which takes 2 ms.
 */
const [major, minor] = process.versions.node.split('.').map(Number) as [number, number]
const readsInThreadPool = major < 22 || (major === 22 && minor < 18) || (major === 24 && minor < 3)

/** The imports in progress on this thread. */
let imports = 0

/** Call it only on a thread of the pool. Until the import ends, Node's module loader reads files on this thread. */
export async function readWithoutPool<T>(load: () => Promise<T>): Promise<T> {
  if (!readsInThreadPool) return load()
  if (imports === 0) restore = replaceReadFile()
  imports++
  try {
    return await load()
  } finally {
    imports--
    if (imports === 0) restore()
  }
}

let restore: () => void

/** Node's module loader calls the function with a URL and nothing else. */
function replaceReadFile(): () => void {
  const promises = getFsPromises()
  const original = promises.readFile
  // A module may store this function while it loads, and call it later. Then it does what the original does.
  const readFile = async (file: unknown, ...options: unknown[]): Promise<unknown> => {
    const isFromLoader = imports > 0 && file instanceof URL && options.length === 0
    return isFromLoader ? readFileSync(file) : (original as (...args: unknown[]) => unknown)(file, ...options)
  }
  promises.readFile = readFile as ReadFile
  return () => {
    if (promises.readFile === readFile) promises.readFile = original
    // Without this call, later imports of `node:fs/promises` would get the replaced function.
    getBuiltinModule('node:module').syncBuiltinESMExports()
  }
}
