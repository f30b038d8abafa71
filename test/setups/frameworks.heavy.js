// The frameworks of the adapters, in the versions that people run. lido installs beside each and changes no other package. Each adapter
// passes its own tests on the oldest and the newest version that it supports.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { command, emptyProject, install, installTool, npmFlags, output, root, tarball } from './project.js'
import { heavyRow } from './row.js'

const nest = version => [
  ...['common', 'core', 'platform-express', 'platform-fastify'].map(name => `@nestjs/${name}@${version}`),
  `@nestjs/terminus@${version.split('.')[0]}`,
  'reflect-metadata@0.1.13',
  'rxjs@7',
]

/** Programs that may use none of the adapters. */
const neighbours = [
  ['express@4'],
  ['fastify@4'],
  ['-E', 'fastify@5.2.0'],
  ['fastify@5', 'fastify-plugin@4'],
  ...['10', '11', '12'].map(nest),
  ['bullmq@5'],
]

async function npm(project, ...args) {
  return await output(project.folder, 'npm', [...args, ...npmFlags])
}

/** The packages of a project with their versions, as npm locked them. */
function locked(project) {
  const { packages } = JSON.parse(readFileSync(project.path('package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path]) => path !== '' && path !== 'node_modules/lido')
    .map(([path, { version }]) => `${path} ${version}`)
}

heavyRow('npm, beside older frameworks', 'changes no other package', 'nothing', async () => {
  for (const [index, packages] of neighbours.entries()) {
    const own = emptyProject(`beside-${index}`)
    await npm(own, 'install', ...packages)
    const before = locked(own)
    await npm(own, 'install', await tarball())
    assert.deepEqual(locked(own), before, packages.join(' '))
  }
  const own = emptyProject('beside-locked')
  await npm(own, 'install', '-E', 'fastify@5.2.0')
  await npm(own, 'pkg', 'set', 'dependencies.fastify=^5.2.0')
  await npm(own, 'install', await tarball())
  assert.equal(own.version('fastify'), '5.2.0')
  return `npm ${await npm(own, '--version')}`
})

/** Imports each adapter, which finds the frameworks of the program. */
const importing = `for (const name of ['body', 'express', 'fastify', 'nestjs', 'bullmq']) await import(\`lido/\${name}\`)
const { json } = await import('lido/express')
const { PoolModule } = await import('lido/nestjs')
json()
PoolModule.forRoot({ filename: import.meta.url })
console.log('found')
`
const older = {
  ...{ express: '4', fastify: '4', bullmq: '5', 'reflect-metadata': '0.1.13', rxjs: '7' },
  ...{ '@nestjs/common': '10', '@nestjs/core': '10' },
}

heavyRow('pnpm, beside older frameworks', 'finds them', 'nothing', async () => {
  const pnpm = await installTool('pnpm', 10)
  const own = emptyProject('pnpm-beside', {
    dependencies: { ...older, lido: `file:${await tarball()}` },
  })
  own.write({ 'main.mjs': importing })
  const settings = ['--config.strict-peer-dependencies=true', '--config.hoist=false']
  await output(own.folder, pnpm.path('node_modules', '.bin', 'pnpm'), ['install', ...settings])
  assert.equal(await own.node('main.mjs'), 'found')
  return `pnpm ${pnpm.version('pnpm')}`
})

heavyRow('Yarn PnP, beside older frameworks', 'finds them', 'nothing', async () => {
  const yarn = await installTool('@yarnpkg/cli-dist', 4)
  const own = emptyProject('yarn-beside', {
    dependencies: { ...older, lido: `file:${await tarball()}` },
  })
  own.write({
    'main.mjs': importing,
    '.yarnrc.yml':
      'nodeLinker: pnp\nenableTelemetry: false\nenableGlobalCache: false\nenableImmutableInstalls: false\n',
    'yarn.lock': '',
  })
  const run = async (...args) =>
    await output(own.folder, process.execPath, [yarn.binary('yarn', '@yarnpkg/cli-dist'), ...args])
  const told = await run('install')
  assert.doesNotMatch(told, /lido.*(?:doesn't provide|provides .* doesn't satisfy)/)
  assert.equal((await run('node', 'main.mjs')).split('\n').at(-1), 'found')
  return `yarn ${yarn.version('@yarnpkg/cli-dist')}`
})

heavyRow('Yarn 1, beside older frameworks', 'finds them', 'nothing', async () => {
  const yarn = await installTool('yarn', 1)
  const own = emptyProject('yarn-1-beside', {
    dependencies: { ...older, lido: `file:${await tarball()}` },
  })
  own.write({ 'main.mjs': importing })
  await output(own.folder, process.execPath, [yarn.binary('yarn'), 'install', '--no-progress'])
  assert.equal(await own.node('main.mjs'), 'found')
  return `yarn ${yarn.version('yarn')}`
})

/** Runs tests of this repository in a project with these packages. */
async function passes(name, packages, suite, files) {
  const own = await install(name, packages, { type: 'module' })
  for (const folder of [
    'test/frameworks',
    'test/bullmq',
    'test/helpers',
    'test/fixtures',
    'examples/machines',
  ])
    cpSync(join(root, folder), own.path(folder), { recursive: true })
  const paths = files.map(file => join('test', suite, `${file}.test.js`))
  const ended = await command(own.folder, process.execPath, ['--test', ...paths], { limitMs: 480_000 })
  assert.equal(ended.exitCode, 0, `${packages.join(' ')}\n${ended.output}`)
  return own
}

const fastifyTests = ['fastify-plugin', 'fastify-requests', 'fastify-close']
heavyRow('lido/fastify, Fastify 4 and 5', 'passes its tests', 'nothing', async () => {
  const others = ['express@4', 'fastify-piscina@4']
  const oldest = ['fastify@4.0.0', '@fastify/under-pressure@8.0.0', ...others]
  const first = await passes('fastify-oldest', oldest, 'frameworks', fastifyTests)
  const newest = ['fastify@5', '@fastify/under-pressure@9', ...others]
  const last = await passes('fastify-newest', newest, 'frameworks', fastifyTests)
  return `${first.versions('fastify')}, ${last.version('fastify')}`
})

const bodyTests = ['body-clients', 'body-hostile', 'body-parts', 'http2']
heavyRow('lido/body, Express 4 and 5, Fastify 4 and 5', 'passes its tests', 'nothing', async () => {
  const first = await passes('body-oldest', ['express@4.16.0', 'fastify@4.0.0'], 'frameworks', bodyTests)
  const last = await passes('body-newest', ['express@5', 'fastify@5'], 'frameworks', bodyTests)
  const names = ['express', 'body-parser', 'fastify']
  return `${first.versions(...names)}; ${last.versions(...names)}`
})

heavyRow('lido/nestjs, NestJS 10 to 12', 'passes its tests', 'nothing', async () => {
  const tried = []
  for (const version of ['10.0.0', '11', '12']) {
    const own = await passes(`nest-${version}`, nest(version), 'frameworks', ['nestjs-module'])
    tried.push(own.version('@nestjs/core'))
  }
  return `@nestjs/core ${tried.join(', ')}`
})

heavyRow('lido/bullmq, BullMQ 5 and 6 with Redis', 'passes its tests', 'nothing', async t => {
  if (process.env.REDIS_URL === undefined && spawnSync('redis-server', ['--version']).error) {
    t.skip('redis-server is not installed')
    return 'not tried: redis-server is not installed'
  }
  const tests = ['host', 'machines', 'remote-pool', 'caller', 'give-back', 'outages', 'results', 'shutdown']
  const first = await passes('bullmq-oldest', ['bullmq@5.76.11'], 'bullmq', tests)
  const last = await passes('bullmq-newest', ['bullmq@6', 'ioredis', 'pg'], 'bullmq', tests)
  return `${first.versions('bullmq')}, ${last.version('bullmq')}`
})

const bullmqTypes = `import { Worker } from 'bullmq'
import express from 'express'
import { Pool } from 'lido'
import { processor, RemotePool, serve } from 'lido/bullmq'
import { json, runFor } from 'lido/express'
const pool = new Pool<typeof import('./handler.mjs')>({ filename: '/handler.js' })
export const worker = new Worker('jobs', processor(pool), { connection: {} })
export const host = serve('jobs', pool, { engine: 'redis', connection: {}, worker: { limiter: { max: 1, duration: 2 } } })
export const remote = new RemotePool<typeof import('./handler.mjs')>('jobs', { engine: 'redis', connection: {} })
express()
  .use(json({ limit: '1mb' }))
  .post('/', (request, response, next) => {
    runFor(request, pool, 'a', { name: 'upper' }).then(text => response.json(text), next)
  })
`

heavyRow('TypeScript, older frameworks', 'the types of the adapters compile', 'nothing', async () => {
  const packages = [
    'fastify@4',
    '@fastify/under-pressure@8',
    'bullmq@5.76.11',
    'express@4',
    ...nest('10.0.0'),
  ]
  const own = await install(
    'older-types',
    [...packages, 'typescript@6.0', '@types/express@4', '@types/node@20'],
    { type: 'module' },
  )
  for (const name of ['body', 'checks', 'fastify', 'handler', 'nestjs'])
    cpSync(join(root, `test/package/types/${name}.mts`), own.path(`${name}.mts`))
  own.write({
    'bullmq.mts': bullmqTypes,
    'tsconfig.json': {
      compilerOptions: {
        ...{ module: 'nodenext', target: 'es2022', lib: ['es2023', 'esnext.disposable'], types: ['node'] },
        ...{ strict: true, exactOptionalPropertyTypes: true, esModuleInterop: true, skipLibCheck: false },
        ...{ experimentalDecorators: true, noEmit: true },
      },
    },
  })
  const { output: told } = await command(own.folder, process.execPath, [
    own.binary('tsc', 'typescript'),
    ...['-p', '.', '--pretty', 'false'],
  ])
  // The declarations of some older frameworks have errors of their own.
  const errors = told.split('\n').filter(line => /error TS/.test(line))
  assert.deepEqual(
    errors.filter(line => !line.startsWith('node_modules/') || line.startsWith('node_modules/lido/')),
    [],
  )
  return own.versions('typescript', '@nestjs/core', 'fastify', 'bullmq', '@types/express')
})

heavyRow('an older framework than an adapter supports', 'is named by an error', 'update it', async () => {
  const own = await install(
    'too-old',
    ['bullmq@4', 'fastify@3', 'body-parser@1.17', ...nest('9').slice(0, 2)],
    {
      type: 'module',
    },
  )
  own.write({
    'main.js': `import Fastify from 'fastify'
import { Pool } from 'lido'
import { json } from 'lido/express'
import fastifyPool from 'lido/fastify'
const pool = new Pool({ backend: 'inline', module: { default: () => 1 } })
for (const use of [
  async () => (await import('lido/bullmq')).processor(pool),
  async () => json(),
  async () => (await import('lido/nestjs')).PoolModule.forRoot({}),
  async () => await Fastify().register(fastifyPool, { filename: import.meta.url }),
]) await use().catch(error => console.log(error.message))
`,
  })
  const lines = (await own.node('main.js')).split('\n')
  const expected = [
    /'lido\/bullmq' needs bullmq 5\.76\.11 or newer, but version 4/,
    /'lido\/body' needs body-parser 1\.18\.0 or newer, but version 1\.17/,
    /'lido\/nestjs' needs @nestjs\/core 10\.0\.0 or newer, but version 9/,
    /lido - expected '>=4' fastify version, '3/,
  ]
  for (const [index, pattern] of expected.entries()) assert.match(lines[index], pattern)
  return own.versions('bullmq', 'body-parser', '@nestjs/core', 'fastify')
})
