// Handlers in unit tests: an inline pool runs the module of the test, and a pool of threads needs a loader.
import { before } from 'node:test'
import { install } from './project.js'
import { row } from './row.js'

const remedy = "backend: 'inline', module: await import('./work.ts')"
/** The test of a user. `mock` replaces `double` for the inline pool. */
const userTest = (imports, mock) => `${imports}
import { join } from 'node:path'
import { Pool } from 'lido'

${mock}

const filename = join(__dirname, 'work.ts')

test('an inline pool uses the mock', async () => {
  const pool = new Pool({ backend: 'inline', module: await import('./work') })
  expect(await pool.run(21)).toBe(-21)
  await pool.close()
})

test('a thread with a loader runs the real handler', async () => {
  const pool = new Pool({ filename, maxWorkers: 1, execArgv: ['--import', 'tsx'] })
  expect(await pool.run(21)).toBe(42)
  await pool.close()
})
${
  process.features.typescript
    ? ''
    : `
test('the error names both ways', async () => {
  const pool = new Pool({ filename, maxWorkers: 1 })
  const { message } = await pool.run(21).catch(error => error)
  await pool.close()
  expect(message).toMatch(/execArgv: \\['--import', 'tsx'\\]\\. Or run the handler in the test itself: backend: 'inline', module: await import/)
})
`
}`

let project
before(async () => {
  project = await install('test-runners', [
    'jest@30',
    'ts-jest@29',
    '@types/jest@30',
    'typescript@5.9',
    'vitest@3',
    'tsx',
  ])
  for (const folder of ['jest', 'vitest'])
    project.write({
      [`${folder}/work.ts`]: `import { double } from './double'\nexport default (value: number): number => double(value)\n`,
      [`${folder}/double.ts`]: 'export const double = (value: number): number => value * 2\n',
    })
  project.write({
    'jest/work.test.ts': userTest('', "jest.mock('./double', () => ({ double: (value: number) => -value }))"),
    'jest/tsconfig.json': {
      compilerOptions: {
        module: 'commonjs',
        moduleResolution: 'node10',
        esModuleInterop: true,
        target: 'es2022',
        types: ['jest'],
      },
    },
    'jest/jest.config.json': {
      transform: { '\\.ts$': ['ts-jest', { diagnostics: false }] },
      testEnvironment: 'node',
    },
    'vitest/work.test.ts': userTest(
      "import { expect, test, vi } from 'vitest'",
      "vi.mock('./double', () => ({ double: (value: number) => -value }))",
    ),
  })
})

row('Jest with ts-jest', 'runs handlers in the test, with mocks', remedy, async () => {
  await project.bin('jest', ['--rootDir', 'jest', '--config', 'jest/jest.config.json'])
  return project.versions('jest', 'ts-jest', 'typescript')
})

row('Vitest', 'runs handlers in the test, with mocks', remedy, async () => {
  await project.bin('vitest', ['run', '--root', 'vitest'])
  return project.versions('vitest')
})
