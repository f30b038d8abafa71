// The URLs of this adapter's files in the CommonJS build, in the form that file tracers and lido-bundle recognise. Both formats of the package
// use the same file.
import { pathToFileURL } from 'node:url'

export const questionUrl: URL = new URL(
  '../../../esm/adapters/prometheus/in-worker.js',
  pathToFileURL(__filename),
)
