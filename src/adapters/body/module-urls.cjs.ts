// The URLs of this adapter's files in the CommonJS build, in the form that file tracers and lido-bundle recognise. Both formats of the package
// use the same parser file.
import { pathToFileURL } from 'node:url'

export const parserUrl: URL = new URL('../../../esm/adapters/body/parser.js', pathToFileURL(__filename))
export const packageUrl: string = pathToFileURL(__filename).href
