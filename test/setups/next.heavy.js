// The example program for Next.js, built by both of its bundlers, and the errors of the usual mistakes. Takes three minutes, so only
// `npm run setups` runs this file.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../examples/machines/database.js'
import { emptyProject, endGroup, output, root, tarball } from './project.js'
import { heavyRow } from './row.js'

const remedy = 'filename from process.cwd()'
const advice =
  /ame a file that Next\.js does not bundle: filename: join\(process\.cwd\(\), 'workers\/work\.mjs'\)\.$/

const projects = new Map()
async function open(version) {
  if (projects.has(version)) return projects.get(version)
  const project = emptyProject(`next-${version}`)
  copyExample(project)
  const packages = [await tarball(), `next@${version}`, 'react@19', 'react-dom@19']
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  await output(project.folder, 'npm', ['install', ...packages, ...flags], { limitMs: 240_000 })
  projects.set(version, project)
  return project
}

function copyExample(project) {
  cpSync(join(root, 'examples', 'next'), project.folder, {
    recursive: true,
    filter: source => !/node_modules|\.next|package\.json/.test(source),
  })
}

const build = (project, flags) =>
  project.bin('next', ['build', ...flags], { env: { NEXT_TELEMETRY_DISABLED: '1' }, limitMs: 240_000 })

/** Starts a server, requests a path of it, and ends it. */
async function request(path, args, cwd) {
  const port = await freePort()
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, PORT: String(port), HOSTNAME: '127.0.0.1', NEXT_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  try {
    await new Promise((resolve, reject) => {
      child.stdout.setEncoding('utf8').on('data', text => text.includes('Ready in') && resolve())
      child.once('exit', exitCode => reject(new Error(`The server exited with code ${exitCode}.`)))
    })
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return await response.json()
  } finally {
    endGroup(child)
  }
}

/** `flags` choose the bundler. Next.js 15 has no flag for webpack, its default. */
async function works(version, ...flags) {
  const project = await open(version)
  await build(project, flags)
  const expected = { count: 78498 }
  const path = '/primes?below=1000000'
  assert.deepEqual(await request(path, ['server.js'], project.path('.next/standalone')), expected)
  const dev = [project.binary('next'), 'dev', ...flags]
  assert.deepEqual(await request(path, dev, project.folder), expected)
  return project.versions('next')
}

heavyRow('Next.js 15, webpack', 'works as built, standalone and in development', remedy, () => works(15))

for (const bundler of ['turbopack', 'webpack']) {
  heavyRow(`Next.js, ${bundler}`, 'works as built, standalone and in development', remedy, () =>
    works(16, `--${bundler}`),
  )

  heavyRow(
    `Next.js, ${bundler}`,
    'the errors of two mistakes name a file outside of the bundle',
    remedy,
    async t => {
      const project = await open(16)
      t.after(() => {
        rmSync(project.path('app/mistakes'), { recursive: true })
        copyExample(project)
      })
      project.write({
        'lib/work.js': 'export default value => value\n',
        'app/mistakes/route.js': `import { Pool } from 'lido'

const messageOf = task => Promise.resolve().then(task).catch(({ message }) => message)

export const dynamic = 'force-dynamic'

export async function GET() {
  return Response.json({
    byUrl: await messageOf(() => new Pool({ filename: new URL('../../lib/work.js', import.meta.url) }).run(1)),
    byImport: await messageOf(() => new Pool({ module: () => import('../../lib/work.js') }).run(1)),
  })
}
`,
      })
      await build(project, [`--${bundler}`])
      const start = [project.binary('next'), 'start']
      const { byUrl, byImport } = await request('/mistakes', start, project.folder)
      assert.match(byUrl, advice)
      assert.match(byImport, advice)
      return project.versions('next')
    },
  )
}
