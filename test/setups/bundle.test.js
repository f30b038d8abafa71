// Programs that lido-bundle bundles, with each bundler. The program and the handler share a module. Node runs the bundle.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { command, install, root, tarball } from './project.js'
import { heavyRow, row } from './row.js'

const folder = join(root, 'packages', 'bundle')
const readme = readFileSync(join(folder, 'README.md'), 'utf8')
let project

const sources = {
  'src/package.json': { type: 'module' },
  'src/label.js': "export const label = name => name + '!'\n",
  'src/main.js': `import { Pool } from 'lido'
import { label } from './label.js'

console.log('the program starts')
async function main() {
  const told = { program: label('program') }
  for (const backend of ['thread', 'process', 'inline']) {
    const options = { maxWorkers: 1, backend }
    const byUrl = new Pool({ ...options, filename: new URL('./work.js', import.meta.url) })
    const byThunk = new Pool({ ...options, module: () => import('./nested/work.js'), base: import.meta.url })
    const error = await byUrl.run(0, { name: 'fail' }).catch(error => error)
    told[backend] = [await byUrl.run(21), await byUrl.run(1, { name: 'named' }), await byThunk.run(2)]
    if (backend === 'thread') told.stack = error.stack.split('\\n').find(line => line.includes(' at '))
    await byUrl.close()
    await byThunk.close()
  }
  console.log(JSON.stringify(told))
}
main()
`,
  'src/work.js': `import { isWorkerThread } from 'lido/worker'
import { label } from './label.js'

export default value => [label('work'), value * 2, isWorkerThread]
export const named = value => label('named ' + value)
export function fail() {
  throw new Error(label('failed'))
}
`,
  'src/nested/work.js': `import { label } from '../label.js'
export default async value => label('nested ' + (await import('./later.js')).later(value))
`,
  'src/nested/later.js': 'export const later = value => value + 40\n',
  'src/adapters.js': `import { Readable } from 'node:stream'
import Tinypool from 'lido/tinypool'
import { json } from 'lido/body'
import workerpool from 'lido/workerpool'

async function main() {
  const tinypool = new Tinypool({ filename: new URL('./work.js', import.meta.url).href })
  const request = Object.assign(Readable.from([Buffer.from('{"a":[1]}')]), {
    method: 'POST', headers: { 'content-type': 'application/json', 'content-length': '9' },
  })
  await new Promise((resolve, reject) => json({ threshold: 1 })(request, {}, error => (error ? reject(error) : resolve())))
  const pool = workerpool.pool()
  console.log(JSON.stringify([await tinypool.run(21), request.body, await pool.exec((a, b) => a + b, [1, 2])]))
  await tinypool.destroy()
  await pool.terminate()
}
main()
`,
  'src/broken.js': `import { Pool } from 'lido'

export const pool = new Pool({ filename: new URL('./wrok.js', import.meta.url) })
`,
}
const inWorker = [['work!', 42, true], 'named 1!', 'nested 42!']
const works = {
  program: 'program!',
  thread: inWorker,
  process: inWorker,
  inline: [['work!', 42, false], 'named 1!', 'nested 42!'],
}

/**
 * `node build.mjs BUNDLER FORMAT INPUT FOLDER` builds by the interface of a bundler, with source maps and short names where it has them.
 * `packageOf` are the names under which older versions are installed.
 */
const builder = packageOf => `import { resolve } from 'node:path'
const [bundler, format, input, folder] = process.argv.slice(2)
const packageOf = ${JSON.stringify(packageOf)}
const module = await import(packageOf[bundler] ?? bundler)
const { default: lidoBundle } = await import('lido-bundle/' + bundler)
const extension = format === 'es' ? '.mjs' : '.cjs'
const plugins = [lidoBundle()]
const output = {
  dir: folder, format, sourcemap: true,
  entryFileNames: 'deep/[name]-[hash]' + extension, chunkFileNames: 'chunks/[name]-[hash]' + extension,
}
// Vite and Rollup leave packages out.
const external = bundler === 'rolldown' ? [] : [/^lido/]
if (bundler === 'vite') {
  await module.build({
    configFile: false, logLevel: 'error', plugins,
    build: { ssr: input, outDir: folder, minify: true, sourcemap: true, rollupOptions: { output } },
  })
} else if (/^roll/.test(bundler)) {
  const bundle = await module[bundler]({ input, external, plugins })
  await bundle.write(output)
  await bundle.close()
} else if (bundler === 'esbuild') {
  await module.build({
    entryPoints: { 'deep/main': input }, plugins, outdir: folder, bundle: true, minify: true, sourcemap: true, logLevel: 'error',
    platform: 'node', format: format.replace('es', 'esm'), outExtension: { '.js': extension },
  })
} else {
  const isModule = format === 'es'
  const compiler = (module.rspack ?? module.default)({
    mode: 'production', target: 'node14', devtool: 'source-map', entry: { main: './' + input }, plugins,
    // webpack 5.61 cannot do this for ES modules.
    optimization: isModule ? {} : { runtimeChunk: 'single', splitChunks: { chunks: 'all', minSize: 0 } },
    experiments: isModule ? { outputModule: true } : {},
    output: {
      path: resolve(folder), filename: 'deep/[name]-[contenthash]' + extension, module: isModule,
      chunkFilename: 'chunks/[name]-[contenthash]' + extension, chunkFormat: isModule ? 'module' : 'commonjs',
    },
  })
  await new Promise((resolve, reject) => compiler.run((error, stats) => {
    if (error) reject(error)
    else if (stats.hasErrors()) reject(new Error(stats.toString('errors-only')))
    else compiler.close(resolve)
  }))
}
`

/** The configuration of a bundler in README.md, which names its file. */
function example(file) {
  const code = readme.split(`\`${file}\``)[1].split('```js\n')[1].split('```')[0]
  return { [file]: code }
}

/** Runs a bundle. The entry may have a hash in its name. */
async function check(project, folder, { hasMap = true } = {}) {
  const entry = readdirSync(project.path(folder)).find(name => /^main[^/]*\.[cm]?js$/.test(name))
  const output = await project.node('--enable-source-maps', project.path(folder, entry))
  // A worker that runs the whole program would print the first line again.
  const [line, told, ...more] = output.split('\n')
  assert.deepEqual([line, more], ['the program starts', []])
  const { stack, ...answers } = JSON.parse(told)
  assert.deepEqual(answers, works)
  if (hasMap) assert.match(stack, /src[\\/]work\.js:7:/)
}

async function checkBothFormats(project, bundler) {
  for (const format of ['es', 'cjs']) {
    const out = `out/${bundler}-${format}`
    await project.node('build.mjs', bundler, format, 'src/main.js', out)
    await check(project, join(out, 'deep'))
  }
}

before(async () => {
  const packages = [
    'vite',
    'rollup',
    'rolldown',
    'webpack',
    'webpack-cli',
    '@rspack/core',
    '@rspack/cli',
    'esbuild',
    'body-parser',
  ]
  // No "type" here: a bundle must work in a folder of either format.
  project = await install('bundle', [await tarball(folder), ...packages])
  project.write({ ...sources, 'build.mjs': builder({ rspack: '@rspack/core' }) })
})

const promise = 'both forms of naming a handler work'
const remedy = 'add the plug-in'
for (const [setup, bundler, file, run, named = bundler] of [
  ['Vite', 'vite', 'vite.config.mjs', () => project.bin('vite', ['build', '--logLevel=error'])],
  ['Rollup', 'rollup', 'rollup.config.mjs', () => project.bin('rollup', ['-c', '--silent'])],
  [
    'Rolldown',
    'rolldown',
    'rolldown.config.mjs',
    () => project.bin('rolldown', ['-c', 'rolldown.config.mjs']),
  ],
  ['webpack', 'webpack', 'webpack.config.mjs', () => project.bin('webpack-cli', [])],
  [
    'Rspack',
    'rspack',
    'rspack.config.mjs',
    () => project.node(project.binary('rspack', '@rspack/cli'), 'build'),
    '@rspack/core',
  ],
  ['esbuild', 'esbuild', 'build.mjs', () => project.node('example.mjs')],
]) {
  row(`lido-bundle, ${setup}`, promise, remedy, async () => {
    const [code] = Object.values(example(file))
    project.write({ [bundler === 'esbuild' ? 'example.mjs' : file]: code })
    await run()
    await check(project, 'dist', { hasMap: false })
    if (process.env.LIDO_SETUPS_ALL !== undefined) await checkBothFormats(project, bundler)
    return project.versions(named)
  })
}

for (const bundler of ['vite', 'rollup', 'rolldown', 'webpack', 'rspack', 'esbuild']) {
  if (bundler === 'esbuild' || bundler === 'rolldown') {
    test(`lido-bundle, ${bundler}: an ES module contains the files of adapters`, {
      timeout: 120_000,
    }, async () => {
      const out = `out/adapters-${bundler}`
      await project.node('build.mjs', bundler, 'es', 'src/adapters.js', out)
      const entry = readdirSync(project.path(out, 'deep')).find(name =>
        /^(main|adapters)[^/]*\.mjs$/.test(name),
      )
      assert.equal(await project.node(project.path(out, 'deep', entry)), '[["work!",42,true],{"a":[1]},3]')
    })
  }

  test(`lido-bundle, ${bundler}: a build fails with the file and the line if a handler does not exist`, async () => {
    const args = ['build.mjs', bundler, 'es', 'src/broken.js', 'out/broken']
    const { exitCode, errors } = await command(project.folder, process.execPath, args)
    assert.notEqual(exitCode, 0)
    assert.ok(
      errors.includes(
        `src/broken.js:3 names the handler './wrok.js'. There is no file ${project.path('src', 'wrok.js')}.`,
      ),
      errors,
    )
  })
}

/** Each older version has a project of its own. The name of a bundler is the name of its package. */
for (const [setup, bundler, spec, packageName = bundler] of [
  ['Vite 7', 'vite', 'vite@7'],
  ['Rollup 3', 'rollup', 'rollup@3'],
  ['Rolldown 1.0 beta', 'rolldown', 'rolldown@1.0.0-beta.30'],
  ['webpack 5.61', 'webpack', 'webpack@5.61.0'],
  ['Rspack 1', 'rspack', '@rspack/core@1', '@rspack/core'],
  ['esbuild 0.14', 'esbuild', 'esbuild@0.14'],
]) {
  heavyRow(`lido-bundle, ${setup}`, promise, remedy, async () => {
    const older = await install(`bundle-${bundler}`, [await tarball(folder), spec])
    older.write({ ...sources, 'build.mjs': builder({ rspack: '@rspack/core' }) })
    await checkBothFormats(older, bundler)
    return older.versions(packageName)
  })
}

heavyRow('lido-bundle, tsup', promise, remedy, async () => {
  const own = await install('bundle-tsup', [await tarball(folder), 'tsup', 'typescript@6.0'])
  const manifest = JSON.parse(readFileSync(own.path('package.json'), 'utf8'))
  own.write({
    ...sources,
    'package.json': { ...manifest, dependencies: { ...manifest.dependencies, lido: '*' } },
    'tsup.config.ts': `import lidoBundle from 'lido-bundle/esbuild'
export default { entry: ['src/main.js'], format: ['esm', 'cjs'], outDir: 'dist', sourcemap: true, silent: true, esbuildPlugins: [lidoBundle()] }
`,
  })
  await own.bin('tsup', [])
  await check(own, 'dist')
  return own.versions('tsup')
})

heavyRow('lido-bundle, tsdown', promise, remedy, async () => {
  const own = await install('bundle-tsdown', [await tarball(folder), 'tsdown', 'typescript@6.0'])
  own.write({
    ...sources,
    'tsdown.config.ts': `import lidoBundle from 'lido-bundle/rolldown'
export default { entry: ['src/main.js'], format: ['esm', 'cjs'], outDir: 'dist', sourcemap: true, dts: false, logLevel: 'error', plugins: [lidoBundle()] }
`,
  })
  await own.bin('tsdown', [])
  await check(own, 'dist')
  return own.versions('tsdown')
})
