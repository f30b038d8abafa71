// Runs Node in its own process group. After the time limit the script kills the whole group and keeps its output.
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const hasGroups = process.platform !== 'win32'

/**
 * @param isShown prints the output as it arrives
 * @param isKept returns the output
 */
export function runNode(args, { limitMs, isShown = true, isKept = !isShown, env: added = {} }) {
  const { NODE_TEST_CONTEXT: _, ...own } = process.env
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...own, ...added },
    stdio: ['ignore', isKept ? 'pipe' : 'inherit', isShown ? 'inherit' : 'pipe'],
    detached: hasGroups,
  })
  const end = () => {
    try {
      process.kill(hasGroups ? -child.pid : child.pid, 'SIGKILL')
    } catch {
      // The process has already exited.
    }
  }
  process.once('exit', end)
  let output = ''
  const keep = text => {
    if (isShown) process.stdout.write(text)
    output += text
  }
  child.stdout?.setEncoding('utf8').on('data', keep)
  child.stderr?.setEncoding('utf8').on('data', keep)
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => {
      console.error(`killed after its limit of ${limitMs / 1000} s`)
      end()
    }, limitMs)
    child.on('error', reject)
    child.on('close', (exitCode, signal) => {
      clearTimeout(limit)
      process.off('exit', end)
      resolve({ exitCode: exitCode ?? signal, output })
    })
  })
}
