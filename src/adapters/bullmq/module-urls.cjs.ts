// The URLs of this adapter's files in the CommonJS build. Both formats of the package use the same file.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const wrapperUrl: URL = pathToFileURL(
  join(__dirname, '..', '..', '..', 'esm', 'adapters', 'bullmq', 'in-worker.js'),
)
export const packageUrl: string = pathToFileURL(__filename).href
