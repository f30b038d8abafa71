// Runs a program in its own process, for tests of how the process exits. The source may use `Pool` and `handler(name)`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const limitMs = 45_000
/** The conformance suite also runs in Deno. */
const runtimeArguments = process.versions.deno === undefined ? [] : ['run', '-A']
const handlers = new URL('../fixtures/handlers/', import.meta.url)

const preamble = `
import { Pool } from '${import.meta.resolve('lido')}'
const handler = name => new URL(name, '${handlers}')
`

/** Starts the program. `child` is its process. `ended` resolves with its exit code, signal and output. */
export function startProgram(source, { nodeArguments = [], env = {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'lido-program-'))
  const file = join(folder, 'program.mjs')
  writeFileSync(file, preamble + source)
  const child = spawn(process.execPath, [...runtimeArguments, ...nodeArguments, file], {
    env: { ...process.env, ...env },
  })
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([output, errors, [exitCode, signal]]) => {
      clearTimeout(limit)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
      return { exitCode, signal, output, errors }
    },
  )
  return { child, ended }
}

export function runProgram(source, options) {
  return startProgram(source, options).ended
}
