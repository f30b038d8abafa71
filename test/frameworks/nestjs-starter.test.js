// A CommonJS program like Nest's starter, with its compiler options: compiled as `nest build` does, and then bundled. The worker
// is its own entry file. Nest injects by type.
import assert from 'node:assert/strict'
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const require = createRequire(import.meta.url)
const starter = fileURLToPath(new URL('./nestjs-starter/', import.meta.url))
// The folder is inside the project, so that the program finds its packages.
mkdirSync(join(starter, 'build'), { recursive: true })
const folder = mkdtempSync(join(starter, 'build', 'test-'))
const compiled = join(folder, 'compiled')
const bundled = join(folder, 'bundled')
after(() => rmSync(folder, { recursive: true, force: true }))

before(async () => {
  const compiler = require.resolve('typescript/bin/tsc')
  const args = [compiler, '-p', starter, '--outDir', compiled, '--pretty', 'false']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  assert.equal(output, '')
  await build({
    entryPoints: ['main', 'doubling.worker'].map(name => join(compiled, `${name}.js`)),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    outdir: bundled,
    logLevel: 'error',
  })
})

describe("programs of Nest's starter", { timeout: 120_000 }, () => {
  for (const [how, place] of [
    ['compiled', compiled],
    ['bundled', bundled],
  ]) {
    test(`a ${how} program of Nest's starter answers from its pool and exits with code 0`, async () => {
      const server = fork(join(place, 'main.js'))
      const ended = once(server, 'exit')
      // A program that does not start prints the reason and sends no port.
      const [port] = await Promise.race([once(server, 'message'), ended.then(() => [])])
      const answer = await fetch(`http://127.0.0.1:${port}/?value=21`)
      assert.deepEqual(await answer.json(), { doubled: 42, isMainThread: false })
      server.kill('SIGTERM')
      assert.deepEqual(await ended, [0, null])
    })
  }
})
