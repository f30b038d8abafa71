// Plays a selection of the cases in a separate process, so that other tests have no threads and timers in it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('main.js', import.meta.url))

export async function played(...flags) {
  const child = spawn(process.execPath, [main, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { exitCode, signal, output, errors }
}
