// The web frameworks: a small program of each, asked over HTTP in development and as built. Takes some minutes, so only
// `npm run setups` runs this file. The sources are in test/setups/web.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { emptyProject, nodeOf, npmFlags, output, root, tarball, versionOf } from './project.js'
import { heavyRow } from './row.js'
import { quiet, withServer } from './server.js'

const sources = fileURLToPath(new URL('web/', import.meta.url))
const promise = 'answers from a worker in development and as built, and takes a changed handler'
const nothing = 'nothing: module: () => import()'
const plugin = 'lido-bundle'

// Some frameworks refuse Node.js 20. From version 22.18 on, a worker runs a handler in TypeScript.
let newer
const newerNode = () => {
  newer ??= nodeOf(24)
  return newer
}

/**
 * @param row.sources the folder in test/setups/web
 * @param row.pool where the program has the files of `web/pool`, if it has them
 * @param row.packages the packages of the program
 * @param row.plugin true if the program uses the plug-in of `packages/bundle`
 * @param row.handler the file that changes in development
 * @param row.savedPool the file that is saved again and again in development
 * @param row.dev the arguments of Node for the development server
 * @param row.build the arguments of Node for the build
 * @param row.start the arguments of Node for the server as built
 * @param row.ship the files that the server as built needs, if it runs without node_modules
 * @param row.tried the names of the packages whose versions the table has
 */
function webRow(setup, remedy, row) {
  heavyRow(setup, promise, remedy, async () => {
    const node = await newerNode()
    const project = await open(setup, node, row)
    if (row.plugin) await output(project.folder, 'npm', ['install', await pluginOf(project), ...npmFlags])
    await checkDevelopment(project, node, row)
    await output(project.folder, node, row.build, { env: { ...pathOf(node), ...quiet }, limitMs: 240_000 })
    const cwd = row.ship === undefined ? project.folder : shipped(project, row.ship)
    const env = { NODE_ENV: 'production', ...row.env }
    await withServer({ node, args: () => row.start, cwd, env }, async server => {
      checkAnswer(await server.json('/fib'))
    })
    return `${project.versions(...row.tried)}, ${await versionOf(node)}`
  })
}

/** Packs the plug-in into the project. */
async function pluginOf(project) {
  const flags = ['--ignore-scripts', '--silent', '--pack-destination', project.folder]
  return project.path(await output(join(root, 'packages', 'bundle'), 'npm', ['pack', ...flags]))
}

const pathOf = node => ({ PATH: `${dirname(node)}:${process.env.PATH}` })

async function open(setup, node, row) {
  const project = emptyProject(`web-${setup.replaceAll(/\W+/g, '-')}`, { type: 'module' })
  cpSync(join(sources, row.sources), project.folder, { recursive: true })
  if (row.pool !== undefined) cpSync(join(sources, 'pool'), project.path(row.pool), { recursive: true })
  const packages = [await tarball(), 'ms@2', '@types/ms@2', '@types/node@24', ...row.packages]
  // Some frameworks bundle the development dependencies, and leave the others out.
  const save = row.areDevDependencies ? ['--save-dev'] : []
  await output(project.folder, 'npm', ['install', ...packages, ...save, ...npmFlags], {
    env: pathOf(node),
    limitMs: 240_000,
  })
  return project
}

function checkAnswer(answer) {
  assert.equal(answer.fib, 6765)
  assert.equal(answer.isMainThread, false)
}

/** A changed handler reaches the next request, and ten saves of the pool's file leave one pool. */
async function checkDevelopment(project, node, row) {
  const handler = project.path(row.handler)
  const pool = project.path(row.savedPool)
  const env = { NODE_ENV: 'development', ...row.env }
  await withServer({ node, args: row.dev, cwd: project.folder, env }, async server => {
    checkAnswer(await server.json('/fib'))
    const { threads } = await server.json('/fib')
    for (let version = 2; version <= 3; version++) {
      replace(handler, /version = \d+/, `version = ${version}`)
      await server.jsonWhere('/fib', answer => answer.version === version)
    }
    for (let save = 1; save <= 10; save++) {
      replace(pool, /save = \d+/, `save = ${save}`)
      await server.jsonWhere('/fib', answer => answer.save === save)
    }
    await server.jsonWhere('/fib', answer => answer.threads <= threads)
    replace(handler, /version = \d+/, 'version = 4')
    await server.jsonWhere('/fib', answer => answer.version === 4 && answer.threads <= threads)
  })
}

function replace(file, pattern, text) {
  const source = readFileSync(file, 'utf8')
  assert.match(source, pattern)
  writeFileSync(file, source.replace(pattern, text))
}

/** Copies files of the project into an empty folder. */
function shipped(project, names) {
  const folder = `${project.folder}-shipped`
  mkdirSync(folder)
  for (const [from, to] of Object.entries(names))
    cpSync(project.path(from), join(folder, to), { recursive: true })
  return folder
}

const vite = command => ['node_modules/vite/bin/vite.js', command]
const onPort = port => ['--port', port, '--host', '127.0.0.1']

webRow('Vite SSR', nothing, {
  sources: 'vite-ssr',
  pool: 'src',
  packages: ['vite@8'],
  handler: 'src/fib.ts',
  savedPool: 'src/pool.ts',
  dev: () => ['server.js'],
  build: vite('build'),
  start: ['server.js'],
  ship: { 'server.js': 'server.js', dist: 'dist', 'package.json': 'package.json' },
  tried: ['vite'],
})

webRow('SvelteKit', nothing, {
  sources: 'sveltekit',
  pool: 'src/lib/server',
  packages: [
    '@sveltejs/kit@3',
    '@sveltejs/adapter-node@6',
    '@sveltejs/vite-plugin-svelte@7',
    'svelte@5',
    'vite@8',
  ],
  areDevDependencies: true,
  handler: 'src/lib/server/fib.ts',
  savedPool: 'src/lib/server/pool.ts',
  dev: port => [...vite('dev'), ...onPort(port)],
  build: vite('build'),
  start: ['build/index.js'],
  ship: { build: 'build', 'package.json': 'package.json' },
  tried: ['@sveltejs/kit', '@sveltejs/adapter-node'],
})

webRow('Astro', nothing, {
  sources: 'astro',
  pool: 'src/lib',
  packages: ['astro@7', '@astrojs/node@11'],
  handler: 'src/lib/fib.ts',
  savedPool: 'src/lib/pool.ts',
  dev: port => ['node_modules/astro/bin/astro.mjs', 'dev', ...onPort(port)],
  build: ['node_modules/astro/bin/astro.mjs', 'build'],
  start: ['dist/server/entry.mjs'],
  tried: ['astro', '@astrojs/node'],
})

webRow('React Router', nothing, {
  sources: 'react-router',
  pool: 'app/lib',
  // The parts of one release: 8.5 has no package @react-router/dev.
  packages: [
    'react-router@8.4',
    '@react-router/dev@8.4',
    '@react-router/node@8.4',
    '@react-router/serve@8.4',
    'isbot@5',
    'react@19',
    'react-dom@19',
    'typescript@6',
    'vite@8',
  ],
  handler: 'app/lib/fib.ts',
  savedPool: 'app/lib/pool.ts',
  dev: port => ['node_modules/@react-router/dev/bin.cjs', 'dev', ...onPort(port)],
  build: ['node_modules/@react-router/dev/bin.cjs', 'build'],
  start: ['node_modules/@react-router/serve/bin.cjs', 'build/server/index.js'],
  tried: ['react-router'],
})

webRow('TanStack Start', nothing, {
  sources: 'tanstack-start',
  pool: 'src/lib',
  packages: [
    '@tanstack/react-start@1',
    '@tanstack/react-router@1',
    '@vitejs/plugin-react@6',
    'react@19',
    'react-dom@19',
    'srvx@1',
    'vite@8',
  ],
  handler: 'src/lib/fib.ts',
  savedPool: 'src/lib/pool.ts',
  dev: port => [...vite('dev'), ...onPort(port)],
  build: vite('build'),
  start: ['serve.js'],
  tried: ['@tanstack/react-start'],
})

webRow('Hono on Node.js', nothing, {
  sources: 'hono',
  pool: 'src',
  packages: ['hono@4', '@hono/node-server@2', 'tsx@4', 'typescript@6'],
  handler: 'src/fib.ts',
  savedPool: 'src/pool.ts',
  dev: () => ['node_modules/tsx/dist/cli.mjs', 'watch', 'src/index.ts'],
  build: ['node_modules/typescript/bin/tsc'],
  start: ['dist/index.js'],
  tried: ['hono', 'tsx', 'typescript'],
})

webRow('Nuxt', plugin, {
  sources: 'nuxt',
  pool: 'server/lib',
  plugin: true,
  packages: ['nuxt@4'],
  handler: 'server/lib/fib.ts',
  savedPool: 'server/lib/pool.ts',
  dev: port => ['node_modules/nuxt/bin/nuxt.mjs', 'dev', ...onPort(port)],
  build: ['node_modules/nuxt/bin/nuxt.mjs', 'build'],
  start: ['.output/server/index.mjs'],
  ship: { '.output': '.output' },
  tried: ['nuxt'],
})

for (const [name, version, flags] of [
  ['Next.js 15, webpack', 15, []],
  ['Next.js, turbopack', 16, ['--turbopack']],
  ['Next.js, webpack', 16, ['--webpack']],
])
  webRow(name, 'filename from process.cwd()', {
    sources: 'next',
    packages: [`next@${version}`, 'react@19', 'react-dom@19'],
    handler: 'workers/fib.mjs',
    savedPool: 'lib/pool.js',
    dev: port => ['node_modules/next/dist/bin/next', 'dev', '-p', port, ...flags],
    build: ['node_modules/next/dist/bin/next', 'build', ...flags],
    start: ['server.js'],
    ship: { '.next/standalone': '.' },
    tried: ['next'],
  })
