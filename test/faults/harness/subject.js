// The other half of a scenario whose fact is how a process ends: its `subject`, in a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { within } from './expect.js'
import { answerLimitMs } from './patience.js'

const program = fileURLToPath(new URL('./subject-process.js', import.meta.url))

export function startSubject({ poolName, backend, fault }, { nodeArguments = [], environment = {} } = {}) {
  const child = spawn(process.execPath, [...nodeArguments, program, poolName, backend, fault], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const subject = { child, output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', text => {
    subject.output += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    subject.errors += text
  })
  const closed = once(child, 'close')
  /** How the process ended by itself. */
  subject.end = async (limitMs = answerLimitMs) => {
    try {
      const [exitCode, signal] = await within(closed, 'the end of the process', limitMs)
      return { exitCode, signal, output: subject.output, errors: subject.errors }
    } finally {
      child.kill('SIGKILL')
    }
  }
  return subject
}
