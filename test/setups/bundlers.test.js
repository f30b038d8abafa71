// Programs whose bundle contains lido. Each bundler builds a program and its handler. Then Node runs the bundle.
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { before, test } from 'node:test'
import { emptyProject, install, output } from './project.js'
import { heavyRow, row } from './row.js'

const asEntry = 'make the handler an entry of the build'
const plugIn = 'add lido-bundle'
let project

/** The handler imports a file and lido, so a bundler must bundle the handler as well. */
const handler = `import { isWorkerThread } from 'lido/worker'
import { double } from './double.js'
export default value => [double(value), isWorkerThread]
`
/** Runs a task on each backend. `locate` is an expression for the handler's file. */
const program = (locate, imports = "import { Pool } from 'lido'") => `${imports}
async function main() {
  const told = {}
  for (const backend of ['thread', 'process', 'inline']) {
    const pool = new Pool({ filename: ${locate}, maxWorkers: 1, backend })
    told[backend] = await pool.run(21).catch(error => error.message)
    await pool.close()
  }
  console.log(JSON.stringify(told))
}
main()
`
const works = { thread: [42, true], process: [42, true], inline: [42, false] }

const sources = {
  'src/package.json': { type: 'module' },
  'src/double.js': 'export const double = value => value * 2\n',
  'src/work.js': handler,
  'src/esm.js': program("new URL('./work.mjs', import.meta.url)"),
  'src/js.js': program("new URL('./work.js', import.meta.url)"),
  'src/dirname.js': program("import.meta.dirname + '/work.mjs'"),
  'src/cjs.js': program("require('node:path').join(__dirname, 'work.cjs')"),
  'src/required.cjs': program(
    "require('node:path').join(__dirname, 'work.cjs')",
    "const { Pool } = require('lido')",
  ),
}

before(async () => {
  const packages = [
    'esbuild',
    'rollup',
    '@rollup/plugin-commonjs',
    '@rollup/plugin-node-resolve',
    'tsup',
    'typescript@6.0',
    'vite',
    'webpack',
    'webpack-cli',
    '@rspack/core',
    '@rspack/cli',
  ]
  // No "type" here: a bundle must work in a folder of either format.
  project = await install('bundlers', packages)
  project.write(sources)
})

/** Runs a bundle. It contains lido, so it needs no other file of lido. */
async function check(folder, file) {
  assert.deepEqual(JSON.parse(await project.node(project.path(folder, file))), works)
}

const esbuild = (format, folder, entry, extension, ...flags) =>
  output(project.folder, project.path('node_modules/.bin/esbuild'), [
    ...[`src/${entry}`, 'src/work.js', '--bundle', '--platform=node', '--log-level=error'],
    ...[`--format=${format}`, `--outdir=${folder}`, `--out-extension:.js=${extension}`],
    ...flags,
  ])

row('esbuild, ES module', 'works without other files', asEntry, async () => {
  await esbuild('esm', 'out/esbuild-esm', 'esm.js', '.mjs')
  await check('out/esbuild-esm', 'esm.mjs')
  return project.versions('esbuild')
})

row('esbuild, lido left out', 'works', asEntry, async () => {
  await esbuild('esm', 'out/external', 'esm.js', '.mjs', '--packages=external')
  assert.deepEqual(JSON.parse(await project.node(project.path('out/external/esm.mjs'))), works)
  return project.versions('esbuild')
})

row('esbuild, CommonJS', 'works without other files', asEntry, async () => {
  await esbuild('cjs', 'out/esbuild-cjs', 'cjs.js', '.cjs')
  await check('out/esbuild-cjs', 'cjs.cjs')
  await esbuild('cjs', 'out/esbuild-required', 'required.cjs', '.cjs')
  await check('out/esbuild-required', 'required.cjs')
  return project.versions('esbuild')
})

row('bundle in one folder, as for AWS Lambda', 'works without node_modules', asEntry, async () => {
  project.write({
    'src/lambda.js': `import { Pool } from 'lido'
const pool = new Pool({ filename: require('node:path').join(__dirname, 'work.cjs'), maxWorkers: 1 })
export const handler = async ({ value }) => ({ result: await pool.run(value) })
`,
  })
  await esbuild('cjs', 'out/lambda', 'lambda.js', '.cjs')
  const task = emptyProject('task')
  cpSync(project.path('out/lambda'), task.folder, { recursive: true })
  const elsewhere = emptyProject('elsewhere')
  // AWS Lambda loads the file once, and calls its export for each event.
  const runtime = `const { handler } = require(${JSON.stringify(task.path('lambda.cjs'))});
(async () => { for (const value of [21, 4]) console.log(await handler({ value }, { awsRequestId: '1' })); process.exit() })()`
  assert.equal(await elsewhere.node('-e', runtime), '{ result: [ 42, true ] }\n{ result: [ 8, true ] }')
  return project.versions('esbuild')
})

row('Rollup', 'works without other files', asEntry, async () => {
  for (const [format, extension] of [
    ['es', 'mjs'],
    ['cjs', 'cjs'],
  ]) {
    project.write({
      'rollup.config.mjs': `import commonjs from '@rollup/plugin-commonjs'
import { nodeResolve } from '@rollup/plugin-node-resolve'
export default {
  input: { main: 'src/${format === 'es' ? 'esm' : 'cjs'}.js', work: 'src/work.js' },
  output: { dir: 'out/rollup-${format}', format: '${format}', entryFileNames: '[name].${extension}' },
  plugins: [nodeResolve(), commonjs()],
}
`,
    })
    await project.bin('rollup', ['-c', '--silent'])
    await check(`out/rollup-${format}`, `main.${extension}`)
  }
  return project.versions('rollup')
})

// A bundle of ES modules has no `require()` for them, and NestJS 12 has no default export.
test("esbuild and Rollup: lido's adapters import the packages that the bundle leaves out", {
  skip: process.env.LIDO_SETUPS_ALL === undefined,
  timeout: 600_000,
}, async () => {
  const own = await install('left-out', [
    ...['esbuild', 'rollup', '@rollup/plugin-commonjs', '@rollup/plugin-node-resolve'],
    ...['prom-client', '@nestjs/common@12', '@nestjs/core@12', 'reflect-metadata', 'rxjs'],
  ])
  own.write({
    'main.mjs': `import { PoolModule } from 'lido/nestjs'
import { collectPools } from 'lido/prometheus'
console.log(typeof PoolModule, typeof collectPools)
`,
    'rollup.config.mjs': `import commonjs from '@rollup/plugin-commonjs'
import { nodeResolve } from '@rollup/plugin-node-resolve'
export default {
  input: 'main.mjs',
  output: { dir: 'out', entryFileNames: 'rollup.mjs' },
  external: [/^@nestjs/, 'prom-client'],
  plugins: [nodeResolve(), commonjs()],
}
`,
  })
  const flags = [
    '--bundle',
    '--platform=node',
    '--format=esm',
    '--external:@nestjs/*',
    '--external:prom-client',
  ]
  await output(own.folder, own.path('node_modules/.bin/esbuild'), [
    ...['main.mjs', '--outfile=out/esbuild.mjs', '--log-level=error'],
    ...flags,
  ])
  await own.bin('rollup', ['-c', '--silent'])
  for (const name of ['esbuild', 'rollup'])
    assert.equal(await own.node(`out/${name}.mjs`), 'function function', name)
})

row('tsup', 'works without other files', asEntry, async () => {
  project.write({
    'tsup.config.mjs': `export default [
  { entry: { main: 'src/esm.js', work: 'src/work.js' }, format: 'esm', outDir: 'out/tsup-esm', noExternal: ['lido'], silent: true },
  { entry: { main: 'src/cjs.js', work: 'src/work.js' }, format: 'cjs', outDir: 'out/tsup-cjs', noExternal: ['lido'], silent: true, outExtension: () => ({ js: '.cjs' }) },
]
`,
  })
  await project.bin('tsup', [])
  await check('out/tsup-esm', 'main.mjs')
  await check('out/tsup-cjs', 'main.cjs')
  return project.versions('tsup')
})

const vite = (folder, inputs) => {
  project.write({
    'vite.config.mjs': `export default {
  logLevel: 'error',
  build: { ssr: true, outDir: '${folder}', rollupOptions: { input: ${JSON.stringify(inputs)} } },
  ssr: { noExternal: true },
}
`,
  })
  return project.bin('vite', ['build'])
}

row('Vite, build.ssr', 'works without other files', asEntry, async () => {
  await vite('out/vite/both', { main: 'src/esm.js', work: 'src/work.js' })
  await check('out/vite/both', 'main.mjs')
  return project.versions('vite')
})

row('Vite, handler not emitted', 'the error names lido-bundle', plugIn, async () => {
  await vite('out/vite/alone', { main: 'src/esm.js' })
  const told = JSON.parse(await project.node(project.path('out/vite/alone/main.mjs')))
  for (const message of Object.values(told)) {
    assert.ok(message.startsWith(`There is no file ${project.path('out/vite/alone/work.mjs')}.`), message)
    assert.match(
      message,
      /did not emit the handler\. Add the plug-in of the package lido-bundle to the build/,
    )
  }
  return project.versions('vite')
})

/** Rspack takes the configuration of webpack. */
for (const { bundler, named, run } of [
  { bundler: 'webpack', named: 'webpack', run: args => project.bin('webpack-cli', args) },
  {
    bundler: 'Rspack',
    named: '@rspack/core',
    run: args => output(project.folder, process.execPath, [project.binary('rspack', '@rspack/cli'), ...args]),
  },
]) {
  const folderOf = name => `out/${bundler.toLowerCase()}-${name}`
  const build = async (name, config) => {
    project.write({
      'webpack.config.mjs': `export default ${JSON.stringify({ target: 'node20', ...config })}\n`,
    })
    const args = ['--config', 'webpack.config.mjs', '--output-path', project.path(folderOf(name)), '--json']
    const { warnings, errors } = JSON.parse(await run(args))
    assert.deepEqual([warnings, errors], [[], []])
  }
  const answerOf = async (name, file) => JSON.parse(await project.node(project.path(folderOf(name), file)))

  row(`${bundler}, CommonJS`, 'works without a copy and without a warning', asEntry, async () => {
    const entry = { main: './src/cjs.js', work: './src/work.js' }
    const output = { filename: '[name].cjs', library: { type: 'commonjs2' } }
    await build('cjs', { mode: 'production', entry, output })
    assert.deepEqual(await answerOf('cjs', 'main.cjs'), works)
    return project.versions(named)
  })

  row(`${bundler}, ES module`, 'works without a copy and without a warning', asEntry, async () => {
    const entry = { main: './src/dirname.js', work: './src/work.js' }
    const output = { filename: '[name].mjs', module: true, library: { type: 'module' } }
    await build('esm', { mode: 'none', entry, output, experiments: { outputModule: true } })
    assert.deepEqual(await answerOf('esm', 'main.mjs'), works)
    return project.versions(named)
  })

  row(`${bundler}, new URL() of a handler with imports`, 'the error names lido-bundle', plugIn, async () => {
    const output = { filename: '[name].cjs' }
    await build('url', { mode: 'none', entry: { main: './src/js.js' }, output })
    for (const message of Object.values(await answerOf('url', 'main.cjs')))
      assert.match(
        message,
        /A bundler copied the file without its imports\. Add the plug-in of the package lido-bundle to the build\./,
      )
    return project.versions(named)
  })
}

// webpack before 5.103 replaces `import.meta.dirname` by `undefined`.
heavyRow('webpack 5.102, ES module', 'works with an option', 'importMeta: false', async () => {
  const older = await install('webpack-older', ['webpack@~5.102', 'webpack-cli'])
  const config = {
    mode: 'none',
    target: 'node20',
    entry: { main: './src/dirname.js', work: './src/work.js' },
    experiments: { outputModule: true },
    module: { parser: { javascript: { importMeta: false } } },
    output: { filename: '[name].mjs', module: true, library: { type: 'module' } },
  }
  older.write({ ...sources, 'webpack.config.mjs': `export default ${JSON.stringify(config)}\n` })
  await older.bin('webpack-cli', [])
  assert.deepEqual(JSON.parse(await older.node('dist/main.mjs')), works)
  return older.versions('webpack')
})

row('Vercel, traced by nft', 'copies the worker files', 'nothing', async () => {
  const adapters = ['body', 'bullmq', 'tinypool', 'workerpool']
  const own = await install('traced', ['@vercel/nft'], { type: 'module' })
  own.write({
    'work.js': 'export default value => value',
    'module.js':
      "import { Pool } from 'lido'\nnew Pool({ filename: new URL('./work.js', import.meta.url) })\n",
    'common.cjs': "const { Pool } = require('lido')\nnew Pool({ filename: require.resolve('./work.js') })\n",
    ...Object.fromEntries(
      adapters.flatMap(name => [
        [`${name}.js`, `import 'lido/${name}'\n`],
        [`${name}.cjs`, `require('lido/${name}')\n`],
      ]),
    ),
    'trace.js': `import { nodeFileTrace } from '@vercel/nft'
const traced = {}
for (const file of process.argv.slice(2)) traced[file] = [...(await nodeFileTrace([file])).fileList]
console.log(JSON.stringify(traced))
`,
  })
  const entries = ['thread', 'process', 'inline', 'all'].map(kind => `cjs/worker/entry/${kind}.cjs`)
  const wanted = { module: ['work.js', ...entries], common: ['work.js', ...entries] }
  for (const name of adapters) {
    wanted[name] = [...entries, `esm/adapters/${name}/${name === 'body' ? 'parser' : 'in-worker'}.js`]
  }
  const programs = ['module.js', 'common.cjs', ...adapters.flatMap(name => [`${name}.js`, `${name}.cjs`])]
  const traced = JSON.parse(await own.node('trace.js', ...programs))
  for (const program of programs) {
    for (const file of wanted[program.split('.')[0]]) {
      const path = file === 'work.js' ? file : `node_modules/lido/dist/${file}`
      assert.ok(traced[program].includes(path), `${program} lacks ${path}: ${traced[program].join(' ')}`)
    }
  }
  return own.versions('@vercel/nft')
})
