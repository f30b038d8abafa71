// The example program for Next.js, built by both of its bundlers, and the errors of the usual mistakes. Takes three minutes, so only
// `npm run setups` runs this file.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { emptyProject, endGroup, output, root, tarball } from './project.js'
import { heavyRow } from './row.js'

const remedy = "serverExternalPackages: ['lido']; filename from process.cwd()"
const advice =
  /Add serverExternalPackages: \['lido'\] to next\.config, and name a file that Next\.js does not bundle: filename: join\(process\.cwd\(\), 'workers\/work\.mjs'\)\.$/

let project
async function open() {
  if (project !== undefined) return project
  project = emptyProject('next')
  copyExample()
  const packages = [await tarball(), 'next@16', 'react@19', 'react-dom@19']
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  await output(project.folder, 'npm', ['install', ...packages, ...flags], { limitMs: 240_000 })
  return project
}

function copyExample() {
  cpSync(join(root, 'examples', 'next'), project.folder, {
    recursive: true,
    filter: source => !/node_modules|\.next|package\.json/.test(source),
  })
}

const build = bundler =>
  project.bin('next', ['build', `--${bundler}`], { env: { NEXT_TELEMETRY_DISABLED: '1' }, limitMs: 240_000 })

/** Starts a server, requests a path of it, and ends it. */
async function request(path, args, cwd = project.folder) {
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

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

for (const bundler of ['turbopack', 'webpack']) {
  heavyRow(`Next.js, ${bundler}`, 'works as built, standalone and in development', remedy, async () => {
    await open()
    await build(bundler)
    const expected = { count: 78498 }
    const path = '/primes?below=1000000'
    assert.deepEqual(await request(path, ['server.js'], project.path('.next/standalone')), expected)
    assert.deepEqual(await request(path, [project.binary('next'), 'dev', `--${bundler}`]), expected)
    return project.versions('next')
  })

  heavyRow(
    `Next.js, ${bundler}`,
    'the errors of two mistakes name serverExternalPackages',
    remedy,
    async t => {
      await open()
      // Without the option, the build of the example's own route fails with webpack, by the same error.
      rmSync(project.path('app/primes'), { recursive: true })
      t.after(() => {
        rmSync(project.path('app/mistakes'), { recursive: true })
        copyExample()
      })
      project.write({
        'next.config.mjs': 'export default {}\n',
        'lib/work.js': 'export default value => value\n',
        'app/mistakes/route.js': `import { join } from 'node:path'
import { Pool } from 'lido'

const messageOf = task => Promise.resolve().then(task).catch(({ message }) => message)

export const dynamic = 'force-dynamic'

export async function GET() {
  return Response.json({
    byUrl: await messageOf(() => new Pool({ filename: new URL('../../lib/work.js', import.meta.url) }).run(1)),
    bundled: await messageOf(() => new Pool({ filename: join(process.cwd(), 'workers/primes.mjs') }).run(3)),
  })
}
`,
      })
      await build(bundler)
      const { byUrl, bundled } = await request('/mistakes', [project.binary('next'), 'start'])
      assert.match(byUrl, advice)
      // Turbopack copies the files of lido's workers.
      if (bundler === 'turbopack') assert.equal(bundled, 1)
      else {
        assert.match(bundled, /^lido's own file \/_next\/static\/media\/thread/)
        assert.match(bundled, advice)
      }
      return project.versions('next')
    },
  )
}
