// The URLs of this adapter's files in the CommonJS build. Both formats of the package use the same parser file.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = join(__dirname, '..', '..', '..', 'esm', 'adapters', 'body')

export const parserUrl: URL = pathToFileURL(join(folder, 'parser.js'))
export const packageUrl: string = pathToFileURL(__filename).href
