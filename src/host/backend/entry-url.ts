// The URLs of the worker entries. Each is written as `new URL(…, import.meta.url)`, so that bundlers find the files.
import { join, pathToFileURL } from '../../shared/platform/node-modules.js'

export const workerEntryUrl = (): URL =>
  inBundle('thread.cjs', () => new URL('../../worker/entry/thread.js', import.meta.url))
export const processEntryUrl = (): URL =>
  inBundle('process.cjs', () => new URL('../../worker/entry/process.js', import.meta.url))
export const inlineEntryUrl = (): URL =>
  inBundle('inline.mjs', () => new URL('../../worker/entry/inline.js', import.meta.url))

/** A bundler that converts lido to CommonJS leaves no `import.meta.url`. Then the files are beside the bundle. */
function inBundle(file: string, locate: () => URL): URL {
  try {
    return locate()
  } catch (failure) {
    if (typeof __dirname === 'undefined') throw failure
    return pathToFileURL(join(__dirname, 'worker', 'entry', file))
  }
}
