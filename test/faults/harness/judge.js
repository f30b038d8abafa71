// The verdict on one pool for one fault: its scenario in a process of its own, under a limit. Whatever that process
// started ends with it.
import { fork } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { countDown } from './patience.js'
import { crashed, hung, unsupported } from './verdicts.js'

const program = fileURLToPath(new URL('./scenario-process.js', import.meta.url))
const hasGroups = process.platform !== 'win32'

export async function judge(scenario, { poolName, backend = 'thread', environment = {} }) {
  if (!scenario.backends.includes(backend))
    return { verdict: unsupported, why: `does not apply to the ${backend} backend` }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fault-')))
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const child = fork(program, [poolName, backend, scenario.id], {
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: hasGroups,
    env: {
      ...inherited,
      ...environment,
      FAULT_FOLDER: folder,
      FAULT_FACTS: join(folder, 'facts'),
      FAULT_POOL: poolName,
    },
  })
  const end = () => endGroup(child)
  process.once('exit', end)
  try {
    return await watch(child, scenario.limitMs)
  } finally {
    end()
    process.off('exit', end)
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

function watch(child, limitMs) {
  let errors = ''
  child.stdout.resume()
  child.stderr.setEncoding('utf8').on('data', text => {
    errors = (errors + text).slice(-4_000)
  })
  return new Promise(resolve => {
    const stop = countDown(limitMs, () => give({ verdict: hung, why: `no end in ${limitMs / 1000} s` }))
    const give = answer => {
      stop()
      resolve(answer)
    }
    child.on('message', give)
    child.on('error', error => give({ verdict: crashed, why: error.message }))
    child.on('close', (exitCode, signal) =>
      give({ verdict: crashed, why: `the process ended (${signal ?? exitCode}): ${lastWords(errors)}` }),
    )
  })
}

/** The line of a crash that says what it was. */
function lastWords(errors) {
  const lines = errors.split('\n').filter(line => line.trim() !== '')
  return (lines.find(line => /Error|FATAL|assert|Abort/i.test(line)) ?? lines.at(-1) ?? 'no word')
    .trim()
    .slice(0, 200)
}

function endGroup(child) {
  try {
    process.kill(hasGroups ? -child.pid : child.pid, 'SIGKILL')
  } catch {
    // It ended by itself, and all that it started.
  }
}
