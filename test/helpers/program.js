// A program in a process of its own, where how the process ends is the fact. Its source may use `Pool` and
// `handler(name)`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const limitMs = 45_000
const root = fileURLToPath(new URL('../..', import.meta.url))
const handlers = new URL('../fixtures/handlers/', import.meta.url)

const preamble = `
import { Pool } from 'lido'
const handler = name => new URL(name, '${handlers}')
`

/** Starts it; `ended` resolves to how it went. Its standard input and output are there to talk to it. */
export function startProgram(source, { nodeArguments = [], env = {} } = {}) {
  const child = spawn(process.execPath, [...nodeArguments, '--input-type=module', '--eval', preamble + source], {
    cwd: root,
    env: { ...process.env, ...env },
  })
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([output, errors, [exitCode, signal]]) => {
      clearTimeout(limit)
      return { exitCode, signal, output, errors }
    },
  )
  return { child, ended }
}

export function runProgram(source, options) {
  return startProgram(source, options).ended
}
