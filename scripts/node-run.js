// A run of Node: in a group of its own, so that one over its limit ends with all it started, and with what it printed.
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const hasGroups = process.platform !== 'win32'

/**
 * @param isShown what it prints is shown as it comes
 * @param isKept what it prints is given back at its end
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
      // It ended by itself.
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
      console.error(`over its limit of ${limitMs / 1000} s: ended`)
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
