import { pathToFileURL } from 'node:url'

export const packageUrl: string = pathToFileURL(__filename).href
