// Where a worker's life begins. The worker side is the same for both builds: nothing in a thread needs CommonJS.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const workerEntryUrl: URL = pathToFileURL(
  join(__dirname, '..', '..', '..', 'esm', 'worker', 'entry.js'),
)
