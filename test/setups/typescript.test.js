// Programs in TypeScript: types in a project without @types/node, and the ways to run a handler in TypeScript.
import assert from 'node:assert/strict'
import { before } from 'node:test'
import { command, install, nodeOf, output, versionOf } from './project.js'
import { heavyRow, row } from './row.js'

/** The entry points whose types need no other package. */
const bareProgram = `import { type MapOptions, Pool, PriorityQueue, TaskTimeoutError, move, share } from 'lido'
import { context, isWorkerThread } from 'lido/worker'
import { Piscina } from 'lido/piscina'
import { ndjson } from 'lido/body'
import { runFor } from 'lido/express'

type Handlers = typeof import('./handler.js')
const pool = new Pool<Handlers>({ filename: './handler.js', maxWorkers: 2, queue: new PriorityQueue() })
export async function main(): Promise<number> {
  const results: number[] = await pool.map([1, 2, 3]).toArray()
  const one: number = await pool.run(1)
  // @ts-expect-error The handler takes a number.
  await pool.run('1')
  const piscina = new Piscina<number, string>({ filename: './handler.js' })
  const text: string = await piscina.run(1)
  return results.length + one + text.length
}
export const uses: unknown[] = [context, isWorkerThread, ndjson, runFor, move, share, TaskTimeoutError]
export type Options = MapOptions
`
const strict = {
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  types: [],
  target: 'es2022',
  lib: ['es2022'],
}
const modes = {
  nodenext: { module: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}

let project
before(async () => {
  project = await install(
    'typescript',
    ['tsx', 'ts-node', 'typescript@6.0', 'oldest@npm:typescript@~5.4.5', 'newest@npm:typescript@7'],
    { type: 'module' },
  )
  project.write({
    'bare/bare.mts': bareProgram.replace('handler.js', 'handler.mjs'),
    'bare/handler.mts': 'export default (value: number): number => value * 2\n',
    'bare/bare.cts': bareProgram.replace('handler.js', 'handler.cjs'),
    'bare/handler.cts': 'export default (value: number): number => value * 2\n',
    'bare-bundler/bare.ts': bareProgram,
    'bare-bundler/handler.ts': 'export default (value: number): number => value * 2\n',
  })
  for (const [extension, format] of Object.entries({ ts: 'module', mts: 'module', cts: 'commonjs' })) {
    const js = extension.replace('ts', 'js')
    project.write({
      [`siblings/work.${extension}`]:
        format === 'module'
          ? `import { double } from './double.${extension}'\nexport default (value: number): number => double(value)\n`
          : `const { double }: { double(value: number): number } = require('./double.${extension}')\nmodule.exports = (value: number): number => double(value)\n`,
      [`siblings/double.${extension}`]:
        format === 'module'
          ? 'export const double = (value: number): number => value * 2\n'
          : 'exports.double = (value: number): number => value * 2\n',
      [`siblings/main-${extension}.ts`]: `import { Pool } from 'lido'
const pool: Pool = new Pool({ filename: new URL('./work.${js}', import.meta.url), maxWorkers: 1 })
console.log(await pool.run(21))
await pool.close()
`,
    })
  }
})

for (const [name, title] of Object.entries({
  oldest: 'TypeScript 5.4',
  typescript: 'TypeScript 6',
  newest: 'TypeScript 7',
})) {
  row(`${title} without @types/node`, 'checks all types, also those of lido', 'nothing', async () => {
    for (const [mode, options] of Object.entries(modes)) {
      const folder = mode === 'bundler' ? 'bare-bundler' : 'bare'
      project.write({ [`${folder}/tsconfig.json`]: { compilerOptions: { ...strict, ...options } } })
      await output(project.folder, process.execPath, [project.binary('tsc', name), '-p', folder])
    }
    return `typescript ${project.version(name)}`
  })
}

row('tsx', 'finds .ts, .mts and .cts in place of .js', 'nothing', async () => {
  for (const extension of ['ts', 'mts', 'cts'])
    assert.equal(await project.bin('tsx', [`siblings/main-${extension}.ts`]), '42', extension)
  return project.versions('tsx')
})

heavyRow(
  'ts-node',
  'works with the loader in workers',
  "execArgv: ['--require', 'ts-node/register']",
  async () => {
    const own = 'ts-node'
    project.write({
      [`${own}/package.json`]: { type: 'commonjs' },
      [`${own}/tsconfig.json`]: {
        compilerOptions: {
          module: 'commonjs',
          moduleResolution: 'node10',
          ignoreDeprecations: '6.0',
          strict: true,
          types: [],
        },
      },
      [`${own}/work.ts`]: 'export default (value: number): number => value * 2\n',
      ...Object.fromEntries(
        Object.entries({ with: "['--require', 'ts-node/register']", without: '[]' }).map(
          ([name, execArgv]) => [
            `${own}/${name}.ts`,
            `import { Pool } from 'lido'
declare const require: any, __dirname: string, console: any
const filename: string = require('node:path').join(__dirname, 'work.js')
const pool = new Pool({ filename, maxWorkers: 1, execArgv: ${execArgv} })
pool.run(21).then(console.log, ({ message }: Error) => console.log(message)).then(() => pool.close())
`,
          ],
        ),
      ),
    })
    const run = (...args) => output(project.path(own), process.execPath, args)
    const program = project.binary('ts-node')
    assert.equal(await run(program, 'with.ts'), '42')
    assert.equal(await run('-r', 'ts-node/register', 'with.ts'), '42')
    // Newer versions of Node run this handler without a loader.
    if (!process.features.typescript)
      assert.match(await run(program, 'without.ts'), /execArgv: \['--require', 'ts-node\/register'\]/)
    return project.versions('ts-node', 'typescript')
  },
)

async function stripTypes(node) {
  for (const extension of ['ts', 'mts', 'cts'])
    assert.equal(await output(project.folder, node, [`siblings/main-${extension}.ts`]), '42', extension)
  return await versionOf(node)
}

row('type stripping, Node 24', 'finds .ts, .mts and .cts in place of .js', 'write .ts in imports', async () =>
  stripTypes(await nodeOf(24)),
)

for (const version of [22, 26])
  heavyRow(
    `type stripping, Node ${version}`,
    'finds .ts, .mts and .cts in place of .js',
    'write .ts in imports',
    async () => stripTypes(await nodeOf(version)),
  )

heavyRow(
  'Node 20, handler in TypeScript',
  'the error says how to run it',
  "execArgv: ['--import', 'tsx'], or compile",
  async () => {
    const node = await nodeOf(20)
    project.write({
      'siblings/twenty.mjs': `import { Pool } from 'lido'
for (const execArgv of [[], ['--import', 'tsx']]) {
  const pool = new Pool({ filename: new URL('./work.js', import.meta.url), maxWorkers: 1, execArgv })
  console.log(await pool.run(21).catch(({ message }) => message))
  await pool.close()
}
`,
    })
    const { output: told } = await command(project.folder, node, ['siblings/twenty.mjs'])
    const [message, result] = told.trim().split('\n')
    assert.match(
      message,
      /work\.ts .*This version of Node\.js cannot run files of this type\. Compile the file, or set a loader: execArgv: \['--import', 'tsx'\]/,
    )
    assert.equal(result, '42')
    return `${await versionOf(node)}, ${project.versions('tsx')}`
  },
)
