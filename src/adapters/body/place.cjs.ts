// Where this door's files are. The worker's side is the same for both builds: nothing in a worker needs CommonJS.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = join(__dirname, '..', '..', '..', 'esm', 'adapters', 'body')

export const parserUrl: URL = pathToFileURL(join(folder, 'parser.js'))
export const doorUrl: string = pathToFileURL(__filename).href
