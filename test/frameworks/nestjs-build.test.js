// The program of examples/nestjs, in TypeScript with decorators, compiled as Nest's build does and bundled by esbuild. The
// worker is its own entry file. The program answers from its pool, alone and on a cluster, and exits with code 0 on SIGTERM.
import assert from 'node:assert/strict'
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundleInto } from '../../examples/nestjs/build.js'

const require = createRequire(import.meta.url)
const example = fileURLToPath(new URL('../../examples/nestjs/', import.meta.url))
// The folder is inside the project, so that the program finds its packages.
mkdirSync(join(example, 'build'), { recursive: true })
const folder = mkdtempSync(join(example, 'build', 'test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** `nest build` calls the same compiler with the same options. */
async function compile(outDir) {
  const compiler = require.resolve('typescript/bin/tsc')
  const child = spawn(process.execPath, [compiler, '-p', example, '--outDir', outDir, '--pretty', 'false'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  assert.equal(output, '')
}

const builds = { 'compiled by tsc': compile, 'bundled by esbuild': bundleInto }

for (const [name, build] of Object.entries(builds)) {
  describe(`examples/nestjs ${name}`, { timeout: 120_000 }, () => {
    const outdir = join(folder, name.replaceAll(' ', '-'))

    for (const processes of [1, 2]) {
      test(`the program ${name} answers from its pool and exits with code 0 (processes: ${processes})`, async () => {
        if (processes === 1) await build(outdir)
        const server = fork(join(outdir, 'main.js'), {
          env: { ...process.env, PI_WAY: 'lido', PI_PROCESSES: String(processes) },
        })
        const ended = once(server, 'exit')
        const [{ port }] = await once(server, 'message')
        const url = `http://127.0.0.1:${port}`
        const estimates = Array.from({ length: 8 }, () => fetch(`${url}/pi?points=20000`))
        for (const answer of await Promise.all(estimates)) {
          const { pi, points } = await answer.json()
          assert.ok(points === 20_000 && Math.abs(pi - Math.PI) < 0.2, `${pi}`)
        }
        assert.equal((await fetch(`${url}/health`)).status, 200)
        server.kill('SIGTERM')
        assert.deepEqual(await ended, [0, null])
      })
    }
  })
}
