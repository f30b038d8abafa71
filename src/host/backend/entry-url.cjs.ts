// Where a worker's life begins, on each backend. The worker side is the same for both builds.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = join(__dirname, '..', '..', '..', 'esm', 'worker')

export const workerEntryUrl = (): URL => pathToFileURL(join(folder, 'entry.cjs'))
export const processEntryUrl = (): URL => pathToFileURL(join(folder, 'process-entry.cjs'))
export const inlineEntryUrl = (): URL => pathToFileURL(join(folder, 'inline-entry.js'))
