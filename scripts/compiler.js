// TypeScript's native compiler, which is the quick one. `typescript` stands beside it for what only that has: an API for the
// tests that read sources, the ways of resolving that older programs use, and the builds that Nest's own tools make.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const { resolve } = createRequire(import.meta.url)

export const compiler = join(dirname(resolve('typescript-native/package.json')), 'bin', 'tsc')
