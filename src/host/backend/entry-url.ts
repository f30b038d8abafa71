// The URLs of the worker entries, which are beside `index.js`. @vercel/nft finds a file by a path that starts with `__dirname`. A bundle in the
// format of ES modules has no `__dirname`, so these functions throw there.
import { pathToFileURL } from '../../shared/platform/node-modules.js'

export function threadEntryUrl(): URL {
  return pathToFileURL(`${__dirname}/worker/entry/thread.cjs`)
}

export function processEntryUrl(): URL {
  return pathToFileURL(`${__dirname}/worker/entry/process.cjs`)
}

export function inlineEntryUrl(): URL {
  return pathToFileURL(`${__dirname}/worker/entry/inline.cjs`)
}

/** The code of all kinds of workers, which these files load. */
export function workerCodeUrl(): URL {
  return pathToFileURL(`${__dirname}/worker/entry/all.cjs`)
}
