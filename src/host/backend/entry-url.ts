// The URLs of the worker entries. Bundlers and file tracers, such as @vercel/nft, find a file by `new URL(…, import.meta.url)`. In an arrow
// function without braces, @vercel/nft does not see it.
import { join, pathToFileURL } from '../../shared/platform/node-modules.js'

export function threadEntryUrl(): URL {
  try {
    return new URL('../../worker/entry/thread.js', import.meta.url)
  } catch (failure) {
    return besideBundle('thread.cjs', failure)
  }
}

export function processEntryUrl(): URL {
  try {
    return new URL('../../worker/entry/process.js', import.meta.url)
  } catch (failure) {
    return besideBundle('process.cjs', failure)
  }
}

export function inlineEntryUrl(): URL {
  try {
    return new URL('../../worker/entry/inline.js', import.meta.url)
  } catch (failure) {
    return besideBundle('inline.mjs', failure)
  }
}

/** A bundler that converts lido to CommonJS leaves no `import.meta.url`. Then the files are beside the bundle. */
function besideBundle(file: string, failure: unknown): URL {
  if (typeof __dirname === 'undefined') throw failure
  return pathToFileURL(join(__dirname, 'worker', 'entry', file))
}
