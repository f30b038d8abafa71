// The URLs of the worker entries in the CommonJS build. Both builds use the same worker files. @vercel/nft finds a file by
// `join(__dirname, …)` with constants.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const isInPackage = __dirname.endsWith(join('dist', 'cjs', 'host', 'backend'))

/** A bundle has the files beside itself. */
function entryUrl(inPackage: string, file: string): URL {
  return pathToFileURL(isInPackage ? inPackage : join(__dirname, 'worker', 'entry', file))
}

export function threadEntryUrl(): URL {
  return entryUrl(join(__dirname, '../../../esm/worker/entry/thread.cjs'), 'thread.cjs')
}

export function processEntryUrl(): URL {
  return entryUrl(join(__dirname, '../../../esm/worker/entry/process.cjs'), 'process.cjs')
}

export function inlineEntryUrl(): URL {
  return entryUrl(join(__dirname, '../../../esm/worker/entry/inline.mjs'), 'inline.mjs')
}
