// Builds of whole programs: Nest, Rolldown, tsdown, one file of esbuild, executables of Bun and of Node, and a workspace of pnpm. The
// answer of each handler says whether it ran on the main thread. Only `npm run setups` runs this file.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  emptyProject,
  endGroup,
  install,
  installTool,
  nodeOf,
  output,
  root,
  tarball,
  versionOf,
} from './project.js'
import { heavyRow } from './row.js'

const plugIn = 'add lido-bundle'
const lidoBundle = () => tarball(join(root, 'packages', 'bundle'))

/** The handler imports a file. The program of some rows imports the same file. */
const handler = {
  'src/work.ts': `import { isMainThread } from 'node:worker_threads'
import { double } from './double.js'
export default (value: number): [number, boolean] => [double(value), isMainThread]
`,
  'src/double.ts': 'export const double = (value: number): number => value * 2\n',
}
const inWorker = '[42,false]'

const byThunk = "module: () => import('./work.js'), base: import.meta.url"
const byUrl = "filename: new URL('./work.js', import.meta.url)"
const byPath = "filename: join(__dirname, 'work.js')"

/** Prints the answer of a worker, or the error. */
const program = (options, imports = '') => `import { join } from 'node:path'
import { Pool } from 'lido'
${imports}
async function main(): Promise<void> {
  const pool = new Pool({ ${options}, maxWorkers: 1 })
  console.log(JSON.stringify(await pool.run(21)))
  await pool.close()
}
main().catch((error: Error) => console.log(error.message))
void join
`
const sharing = "import { double } from './double.js'\nif (double(1) !== 2) throw new Error('no double')\n"

const programs = {
  ...handler,
  'src/thunk.ts': program(byThunk),
  'src/url.ts': program(byUrl),
  'src/path.ts': program(byPath),
  'src/required.ts': program("module: () => import('./work.js'), base: __filename"),
  'src/sharing.ts': program(byThunk, sharing),
}

let bundled
const openBundled = async () => {
  if (bundled !== undefined) return bundled
  bundled = await install(
    'builds',
    [await lidoBundle(), 'esbuild', 'postject', 'rolldown', 'tsdown', 'typescript@6.0'],
    {
      type: 'module',
    },
  )
  bundled.write(programs)
  return bundled
}

/** The output of a built program. A folder name may have a hash, so this looks for the extension. */
function answerOf(project, folder, name) {
  const extension = ['mjs', 'cjs', 'js'].find(ending => existsSync(project.path(folder, `${name}.${ending}`)))
  return project.node(project.path(folder, `${name}.${extension}`))
}

async function answers(project, folder, name, build) {
  await build(name, folder)
  return answerOf(project, folder, name)
}

/** Rolldown puts the shared file into an entry without exports. So the worker runs the program, which must not create a pool again. */
const sharedModule = /which this worker is loading now.*add the plug-in of the package lido-bundle/

heavyRow(
  'Rolldown',
  'works; the error names lido-bundle',
  `nothing; for shared modules ${plugIn}`,
  async () => {
    const project = await openBundled()
    const build =
      (plugins, signatures = 'exports-only') =>
      (name, folder) => {
        project.write({
          'rolldown.config.js': `${plugins ? "import lido from 'lido-bundle/rolldown'\n" : ''}export default {
  input: 'src/${name}.ts',
  platform: 'node',
  preserveEntrySignatures: '${signatures}',
  output: { dir: '${folder}' },
  plugins: [${plugins ? 'lido()' : ''}],
}
`,
        })
        return project.bin('rolldown', ['-c'])
      }
    assert.equal(await answers(project, 'dist/rolldown/thunk', 'thunk', build(false)), inWorker)
    assert.match(await answers(project, 'dist/rolldown/sharing', 'sharing', build(false)), sharedModule)
    const strict = build(false, 'strict')
    assert.equal(await answers(project, 'dist/rolldown/strict', 'sharing', strict), inWorker)
    assert.match(
      await answers(project, 'dist/rolldown/url', 'url', build(false)),
      /There is no file .*Add the plug-in/,
    )
    for (const name of ['thunk', 'sharing', 'url'])
      assert.equal(await answers(project, `dist/rolldown/plug-in/${name}`, name, build(true)), inWorker, name)
    return project.versions('rolldown')
  },
)

heavyRow(
  'tsdown',
  'works; the error names lido-bundle',
  `nothing; for shared modules ${plugIn}`,
  async () => {
    const project = await openBundled()
    const build =
      (plugins, format = 'esm') =>
      (name, folder) => {
        project.write({
          'tsdown.config.js': `${plugins ? "import lido from 'lido-bundle/rolldown'\n" : ''}export default {
  entry: 'src/${name}.ts',
  outDir: '${folder}',
  format: '${format}',
  dts: false,
  plugins: [${plugins ? 'lido()' : ''}],
}
`,
        })
        return project.bin('tsdown', [])
      }
    assert.equal(await answers(project, 'dist/tsdown/thunk', 'thunk', build(false)), inWorker)
    assert.equal(await answers(project, 'dist/tsdown/required', 'required', build(false, 'cjs')), inWorker)
    assert.match(await answers(project, 'dist/tsdown/sharing', 'sharing', build(false)), sharedModule)
    for (const name of ['thunk', 'sharing', 'url'])
      assert.equal(await answers(project, `dist/tsdown/plug-in/${name}`, name, build(true)), inWorker, name)
    return project.versions('tsdown')
  },
)

heavyRow('esbuild with splitting', 'works, also with shared modules', 'nothing', async () => {
  const project = await openBundled()
  const build = (name, folder) =>
    output(project.folder, project.path('node_modules/.bin/esbuild'), [
      ...[
        `src/${name}.ts`,
        '--bundle',
        '--splitting',
        '--platform=node',
        '--format=esm',
        '--log-level=error',
      ],
      `--outdir=${folder}`,
    ])
  for (const name of ['thunk', 'sharing'])
    assert.equal(await answers(project, `dist/splitting/${name}`, name, build), inWorker, name)
  return project.versions('esbuild')
})

heavyRow('esbuild, one file', 'the error names lido-bundle', plugIn, async () => {
  const project = await openBundled()
  const build = (format, plugins) => (name, folder) => {
    project.write({
      'build.js': `import { build } from 'esbuild'
${plugins ? "import lido from 'lido-bundle/esbuild'\n" : ''}await build({
  entryPoints: ['src/${name}.ts'],
  outfile: '${folder}/${name}.${format === 'esm' ? 'mjs' : 'cjs'}',
  format: '${format}',
  bundle: true,
  platform: 'node',
  logLevel: 'error',
  plugins: [${plugins ? 'lido()' : ''}],
})
`,
    })
    return project.node('build.js')
  }
  const removed = /must be a function with one import.*add the plug-in of the package lido-bundle/s
  assert.match(await answers(project, 'dist/one/thunk', 'thunk', build('esm', false)), removed)
  for (const name of ['thunk', 'sharing', 'url'])
    assert.equal(await answers(project, `dist/one/esm/${name}`, name, build('esm', true)), inWorker, name)
  for (const name of ['required', 'path'])
    assert.equal(await answers(project, `dist/one/cjs/${name}`, name, build('cjs', true)), inWorker, name)
  // A folder for AWS Lambda: no node_modules, and another working directory.
  const away = emptyProject('away')
  cpSync(project.path('dist/one/esm/sharing'), away.folder, { recursive: true })
  assert.equal(await output(root, process.execPath, [away.path('sharing.mjs')]), inWorker)
  return project.versions('esbuild')
})

/** A server of Nest that runs a pool for each way to name the handler. */
const nestServer = {
  'src/main.ts': `import 'reflect-metadata'
import { join } from 'node:path'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Pool } from 'lido'
import { double } from './double'

const maxWorkers = 1
const makers: (() => Pool)[] = [
  () => new Pool({ module: () => import('./work'), base: __filename, maxWorkers }),
  () => new Pool({ module: () => import('./work'), maxWorkers }),
  () => new Pool({ filename: join(__dirname, 'work.js'), maxWorkers }),
]
async function ask(make: () => Pool): Promise<unknown> {
  const pool = make()
  return pool.run(21).finally(() => pool.close())
}

@Controller()
class AppController {
  @Get()
  async get() {
    if (double(1) < 2) throw new Error('no double')
    return Promise.all(makers.map(make => ask(make).catch((error: Error) => error.message)))
  }
}
@Module({ controllers: [AppController] })
class AppModule {}

async function start() {
  const app = await NestFactory.create(AppModule, { logger: ['error'] })
  await app.listen(0, '127.0.0.1')
  console.log('listening at', await app.getUrl())
}
start()
`,
  'src/work.ts': `import { isMainThread } from 'node:worker_threads'
import { double } from './double'
export default (value: number): [number, boolean] => [double(value), isMainThread]
`,
  'src/double.ts': 'export const double = (value: number): number => value * 2\n',
  'nest-cli.json': { sourceRoot: 'src', compilerOptions: { deleteOutDir: true } },
  'tsconfig.json': {
    compilerOptions: {
      module: 'commonjs',
      target: 'es2023',
      outDir: './dist',
      sourceMap: true,
      skipLibCheck: true,
      esModuleInterop: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  },
  'tsconfig.build.json': { extends: './tsconfig.json', exclude: ['node_modules', 'dist'] },
}

let nested
const openNest = async () => {
  if (nested !== undefined) return nested
  const nest = ['core', 'common', 'platform-express'].map(name => `@nestjs/${name}@11`)
  nested = await install('nest', [
    ...[await lidoBundle(), '@nestjs/cli@11', ...nest, 'reflect-metadata', 'rxjs', '@swc/cli', '@swc/core'],
    ...['typescript@5.9', '@types/node@22', 'ts-loader@9', 'webpack@5'],
  ])
  nested.write(nestServer)
  return nested
}

/** Starts a server, and resolves with what `use` resolves with. `ask` requests the first page of the newest server. */
async function withServer(project, args, use) {
  const child = spawn(process.execPath, args, {
    cwd: project.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  let printed = ''
  let onPrinted = () => {}
  child.stdout.setEncoding('utf8').on('data', text => {
    printed += text
    onPrinted()
  })
  const exited = new Promise((_, reject) =>
    child.once('exit', exitCode => reject(new Error(`The server exited with code ${exitCode}.\n${printed}`))),
  )
  exited.catch(() => {})
  // A server that never answers must not outlive its test.
  const limit = setTimeout(() => endGroup(child), 240_000)
  const ask = async () => {
    const listening = new Promise(resolve => {
      onPrinted = () => {
        const addresses = [...printed.matchAll(/listening at (\S+)/g)]
        if (addresses.length > 0) resolve(addresses.at(-1)[1])
      }
      onPrinted()
    })
    const response = await fetch(await Promise.race([listening, exited]))
    printed = ''
    return response.json()
  }
  try {
    return await use(ask)
  } finally {
    clearTimeout(limit)
    endGroup(child)
  }
}

/** Asks the built server, then the development server before and after a change of a file that the handler imports. */
async function nestWorks(project, builder) {
  const cli = project.path('node_modules/@nestjs/cli/bin/nest.js')
  const all = answer => [answer, answer, answer]
  await project.node(cli, 'build', '-b', builder)
  assert.deepEqual(await withServer(project, ['dist/main.js'], ask => ask()), all([42, false]))
  await withServer(project, [cli, 'start', '-b', builder, '--watch'], async ask => {
    assert.deepEqual(await ask(), all([42, false]))
    const file = project.path('src/double.ts')
    const source = readFileSync(file, 'utf8')
    writeFileSync(file, source.replace('* 2', '* 3'))
    // The next answer comes from the next server.
    assert.deepEqual(await ask(), all([63, false]))
    writeFileSync(file, source)
  })
  return project.versions('@nestjs/cli', '@nestjs/core')
}

heavyRow('Nest, swc builder', 'works, built and in watch mode', 'nothing', async () =>
  nestWorks(await openNest(), 'swc'),
)

heavyRow('Nest, webpack builder', 'the error names lido-bundle', plugIn, async () => {
  const project = await openNest()
  const cli = project.path('node_modules/@nestjs/cli/bin/nest.js')
  await project.node(cli, 'build', '-b', 'webpack')
  for (const message of await withServer(project, ['dist/main.js'], ask => ask()))
    assert.match(message, /add the plug-in of the package lido-bundle/i)
  project.write({
    'webpack.config.js': `const lido = require('lido-bundle/webpack')
module.exports = options => ({ ...options, plugins: [...options.plugins, lido()] })
`,
  })
  return `${await nestWorks(project, 'webpack')}, ${project.versions('webpack')}`
})

heavyRow('bun build --compile', 'works', '--splitting, or the handler as an entry', async () => {
  const project = await install('bun-compile', ['bun'], { type: 'module' })
  project.write(programs)
  const bun = project.path('node_modules/.bin/bun')
  const away = emptyProject('bun-away')
  const answer = async (...args) => {
    await output(project.folder, bun, ['build', '--compile', ...args, '--outfile', away.path('program')])
    return output(away.folder, away.path('program'), [])
  }
  assert.match(
    await answer('src/url.ts'),
    /There is no file \/\$bunfs\/root\/work\.js\. Add the handler to the build: bun build --compile main\.js work\.js\./,
  )
  assert.equal(await answer('src/url.ts', 'src/work.ts'), inWorker)
  assert.equal(await answer('src/thunk.ts', '--splitting'), inWorker)
  assert.equal(await answer('src/sharing.ts', '--splitting'), inWorker)
  assert.equal(await output(project.folder, bun, ['src/thunk.ts']), inWorker)
  return project.versions('bun')
})

/** Builds an executable of Node from one bundled file, and runs it beside its handler. */
async function singleExecutable(version) {
  const project = await openBundled()
  const node = await nodeOf(version)
  const folder = project.path(`dist/single-${version}`)
  project.write({
    'src/single.ts': program(
      byPath,
      "import { isSea } from 'node:sea'\nif (!isSea()) throw new Error('no executable')\n",
    ),
  })
  await output(project.folder, project.path('node_modules/.bin/esbuild'), [
    ...['src/single.ts', 'src/work.ts', '--bundle', '--platform=node', '--log-level=error'],
    ...[`--outdir=${folder}`, '--out-extension:.js=.cjs'],
  ])
  const executable = join(folder, process.platform === 'win32' ? 'program.exe' : 'program')
  const config = join(folder, 'sea.json')
  const buildsItself = version >= 26
  const blob = join(folder, 'program.blob')
  writeFileSync(
    config,
    JSON.stringify({
      main: join(folder, 'single.cjs'),
      output: buildsItself ? executable : blob,
      disableExperimentalSEAWarning: true,
    }),
  )
  if (buildsItself) await output(project.folder, node, ['--build-sea', config])
  else {
    await output(project.folder, node, ['--experimental-sea-config', config])
    cpSync(node, executable)
    const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
    await project.bin('postject', [executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse])
  }
  assert.equal(await output(root, executable, []), inWorker)
  return `${await versionOf(node)}, ${project.versions('esbuild')}`
}

for (const version of [22, 24, 26])
  heavyRow(`single executable, Node ${version}`, 'works', 'put the handler beside the executable', () =>
    singleExecutable(version),
  )

heavyRow('pnpm workspace, TypeScript references', 'works', 'nothing', async () => {
  const pnpm = await installTool('pnpm', 10)
  const workspace = emptyProject('workspace')
  const own = { composite: true, module: 'nodenext', target: 'es2022', types: ['node'], skipLibCheck: true }
  const settings = { ...own, rootDir: 'src', outDir: 'dist' }
  const devDependencies = { '@types/node': '22' }
  const in_ = (folder, files) =>
    Object.fromEntries(Object.entries(files).map(([name, source]) => [`${folder}/${name}`, source]))
  workspace.write({
    'package.json': { private: true, devDependencies: { typescript: '6.0' } },
    'pnpm-workspace.yaml': 'packages: [packages/*]\n',
    'tsconfig.json': { files: [], references: [{ path: 'packages/jobs' }, { path: 'packages/app' }] },
    ...in_('packages/jobs', handler),
    ...in_('packages/app', handler),
    'packages/jobs/package.json': {
      ...{ name: '@acme/jobs', version: '1.0.0', type: 'module', devDependencies },
      exports: { './*': { types: './dist/*.d.ts', default: './dist/*.js' } },
    },
    'packages/jobs/tsconfig.json': { compilerOptions: settings, include: ['src'] },
    'packages/app/package.json': {
      ...{ name: '@acme/app', version: '1.0.0', type: 'module', devDependencies },
      dependencies: { '@acme/jobs': 'workspace:*', lido: `file:${await tarball()}` },
    },
    'packages/app/tsconfig.json': {
      ...{ compilerOptions: settings, include: ['src'], references: [{ path: '../jobs' }] },
    },
    'packages/app/src/thunk.ts': program(byThunk),
    'packages/app/src/url.ts': program(byUrl),
    'packages/app/src/other.ts': program("module: () => import('@acme/jobs/work'), base: import.meta.url"),
    'packages/app/src/name.ts': program("filename: '@acme/jobs/work'"),
  })
  await output(workspace.folder, process.execPath, [pnpm.binary('pnpm'), 'install', '--prefer-offline'])
  await workspace.node(workspace.binary('tsc', 'typescript'), '-b')
  for (const name of ['thunk', 'url', 'other', 'name'])
    assert.equal(await workspace.node(`packages/app/dist/${name}.js`), inWorker, name)
  return `${pnpm.versions('pnpm')}, typescript ${workspace.version('typescript')}`
})
