// The URLs of the worker entries in the CommonJS build. Both builds use the same worker files.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const isInPackage = __dirname.endsWith(join('dist', 'cjs', 'host', 'backend'))
/** A bundle has the files beside itself. */
const root = isInPackage ? join(__dirname, '..', '..', '..', 'esm') : __dirname
const folder = join(root, 'worker', 'entry')

export const workerEntryUrl = (): URL => pathToFileURL(join(folder, 'thread.cjs'))
export const processEntryUrl = (): URL => pathToFileURL(join(folder, 'process.cjs'))
export const inlineEntryUrl = (): URL => pathToFileURL(join(folder, 'inline.mjs'))
