// The URLs of the worker entries in the CommonJS build. Both builds use the same worker files.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const inPackage = join(__dirname, '..', '..', '..', 'esm', 'worker', 'entry')
/** A bundle has the files beside itself. */
const folder = existsSync(inPackage) ? inPackage : join(__dirname, 'worker', 'entry')

export const workerEntryUrl = (): URL => pathToFileURL(join(folder, 'thread.cjs'))
export const processEntryUrl = (): URL => pathToFileURL(join(folder, 'process.cjs'))
export const inlineEntryUrl = (): URL => pathToFileURL(join(folder, 'inline.mjs'))
