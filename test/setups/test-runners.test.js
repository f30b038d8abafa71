// Handlers in unit tests: an inline pool runs the module of the test. A pool of threads needs a loader, or a Node that runs TypeScript.
import { before } from 'node:test'
import { install, nodeOf, output, versionOf } from './project.js'
import { heavyRow, row } from './row.js'

const remedy = "backend: 'inline', module: () => import('./work')"
/** The test of a user. `mock` replaces `double` for the inline pool. */
const userTest = (imports, mock) => `${imports}
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Pool } from 'lido'

${mock}

const filename = join(__dirname, 'work.ts')

test('an inline pool uses the mock', async () => {
  for (const module of [() => import('./work'), await import('./work')]) {
    const pool = new Pool({ backend: 'inline', module })
    expect(await pool.run(21)).toBe(-21)
    await pool.close()
  }
})

test('a thread with a loader runs the real handler of a function', async () => {
  const pool = new Pool({ module: () => import('./work'), maxWorkers: 1, execArgv: ['--import', 'tsx'] })
  expect(await pool.run(21)).toBe(42)
  await pool.close()
})

test('a thread with a loader runs the real handler', async () => {
  const pool = new Pool({ filename, maxWorkers: 1, execArgv: ['--import', 'tsx'] })
  expect(await pool.run(21)).toBe(42)
  await pool.close()
})

if (process.features.typescript)
  test('a thread without a loader runs the real handler', async () => {
    const pool = new Pool({ filename: pathToFileURL(join(__dirname, 'strict.ts')), maxWorkers: 1 })
    expect(await pool.run(21)).toBe(42)
    await pool.close()
  })
else
  test('the error names both ways', async () => {
    const pool = new Pool({ filename: pathToFileURL(filename), maxWorkers: 1 })
    const { message } = await pool.run(21).catch(error => error)
    await pool.close()
    expect(message).toMatch(/execArgv: \\['--import', 'tsx'\\]\\. Or run the handler in the test itself: backend: 'inline', module: \\(\\) => import\\('\\.\\/work'\\)/)
  })
`
const double = 'export const double = (value: number): number => value * 2\n'
/** `work.ts` names its import as test runners resolve it, `strict.ts` as Node does. */
const handlerIn = folder => ({
  [`${folder}/work.ts`]: `import { double } from './double'\nexport default (value: number): number => double(value)\n`,
  [`${folder}/strict.ts`]: `import { double } from './double.ts'\nexport default (value: number): number => double(value)\n`,
  [`${folder}/double.ts`]: double,
})
const inVitest = {
  ...handlerIn('vitest'),
  'vitest/work.test.ts': userTest(
    "import { expect, test, vi } from 'vitest'",
    "vi.mock('./double', () => ({ double: (value: number) => -value }))",
  ),
}

let project
before(async () => {
  project = await install('test-runners', [
    'jest@30',
    'jest-environment-jsdom@30',
    'ts-jest@29',
    '@types/jest@30',
    'typescript@5.9',
    'vitest@3',
    'tsx',
  ])
  project.write({
    ...inVitest,
    ...handlerIn('jest'),
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
    'jest/jest.config.json': { transform: { '\\.ts$': ['ts-jest', { diagnostics: false }] } },
  })
})

for (const [name, environment] of [
  ['Jest with ts-jest', 'node'],
  ['Jest with ts-jest, jsdom', 'jsdom'],
])
  row(name, 'runs handlers in the test, with mocks', remedy, async () => {
    const flags = ['--rootDir', 'jest', '--config', 'jest/jest.config.json', '--env', environment]
    await project.bin('jest', flags)
    return project.versions('jest', 'ts-jest', 'typescript')
  })

row('Vitest', 'runs handlers in the test, with mocks', remedy, async () => {
  await project.bin('vitest', ['run', '--root', 'vitest'])
  return project.versions('vitest')
})

const otherVitest = async (version, node) => {
  const own = await install(`vitest-${version}`, [`vitest@${version}`, 'tsx'])
  own.write(inVitest)
  await output(own.folder, node, [own.binary('vitest'), 'run', '--root', 'vitest'])
  return own.versions('vitest')
}

heavyRow('Vitest 4', 'runs handlers in the test, with mocks', remedy, () => otherVitest(4, process.execPath))

// Babel resolves './rate' in a handler. Node, which runs the handler in a thread, needs './rate.js'.
heavyRow('Jest with Babel', 'runs handlers in the test, with mocks', remedy, async () => {
  const packages = ['jest@30', 'babel-jest@30', '@babel/core@7', '@babel/preset-env@7']
  const own = await install('jest-babel', packages)
  const handler = path => `import { isMainThread } from 'node:worker_threads'
import { rate } from '${path}'
export default function price(value) { return [value * rate(), isMainThread] }
`
  own.write({
    'babel.config.js':
      "module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }]] }\n",
    'src/rate.js': 'export const rate = () => 2\n',
    'src/work.js': handler('./rate'),
    'src/full.js': handler('./rate.js'),
    'src/threads.test.js': `import { join } from 'node:path'
import { Pool } from 'lido'
const answer = async options => {
  const pool = new Pool({ maxWorkers: 1, ...options })
  return pool.run(21).catch(({ message }) => message).finally(() => pool.close())
}
test('the error of a path without extension gives both ways', async () => {
  for (const options of [{ module: () => import('./work') }, { filename: join(__dirname, 'work.js') }]) {
    const message = await answer(options)
    expect(message).toMatch(/Import the file by its full name, .*rate\\.js\\./)
    expect(message).toMatch(/backend: 'inline', module: \\(\\) => import\\('\\.\\/work'\\)/)
  }
})
test('a thread runs a handler with full paths', async () => {
  for (const module of [() => import('./full'), () => import('./full.js')])
    expect(await answer({ module })).toEqual([42, false])
})
`,
    'src/inline.test.js': `import { Pool } from 'lido'
jest.mock('./rate', () => ({ rate: () => 10 }))
test('an inline pool uses the mock', async () => {
  const pool = new Pool({ backend: 'inline', module: () => import('./work') })
  expect(await pool.run(2)).toEqual([20, true])
  await pool.close()
})
`,
  })
  await own.bin('jest', [])
  return own.versions('jest', '@babel/core')
})

// Vitest 5 does not run on Node 20.
heavyRow('Vitest 5, Node 24', 'runs handlers in the test, with mocks', remedy, async () => {
  const node = await nodeOf(24)
  return `${await otherVitest(5, node)}, ${await versionOf(node)}`
})
