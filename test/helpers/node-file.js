// Runs a file in its own Node process. Resolves with its exit code and its output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

const limitMs = 120_000

export async function runFile(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const limit = setTimeout(() => child.kill(), limitMs)
  const [output, errors, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  clearTimeout(limit)
  return { exitCode, output, errors }
}
