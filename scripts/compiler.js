// Finds TypeScript's native compiler, which is faster. The package `typescript` is also installed: tests that read
// sources need its API. Older module resolution modes and Nest's build tools need its compiler.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const { resolve } = createRequire(import.meta.url)

export const compiler = join(dirname(resolve('typescript-native/package.json')), 'bin', 'tsc')
