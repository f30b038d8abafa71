// `npx lido trace app.js` runs a program and records it until its end. `npx lido trace PID` records a running program.
import { spawn } from 'node:child_process'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CommandError } from './command-error.js'
import { openProgram, parsePid } from './connection.js'
import { Progress } from './progress.js'

const defaultSeconds = 5
const mostSeconds = 600
const preload = fileURLToPath(new URL('trace-preload.cjs', import.meta.url))
const viewers =
  'Open it in Chrome DevTools (Performance), https://ui.perfetto.dev or https://profiler.firefox.com.'
const options = {
  out: { type: 'string', default: 'lido-trace.json' },
  seconds: { type: 'string' },
  'no-cpu': { type: 'boolean', default: false },
}
/** The program and the command get the same Ctrl-C. The third one kills a program that does not react. */
const signalsUntilKill = 3

export async function trace(args) {
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true })
  const target = tokens.find(({ kind }) => kind === 'positional')
  if (target === undefined)
    throw new CommandError('Name a program or the id of a process: npx lido trace app.js', 2)
  const isProcess = /^\d+$/.test(target.value) && !existsSync(target.value)
  // The arguments after a program belong to it.
  const own = isProcess ? args.toSpliced(target.index, 1) : args.slice(0, target.index)
  const { values } = parseArgs({ args: own, options })
  const settings = {
    file: resolve(values.out),
    seconds: values.seconds === undefined ? null : parseSeconds(values.seconds),
    cpu: !values['no-cpu'],
  }
  checkFile(settings.file)
  if (isProcess) await traceProcess(parsePid(target.value), settings)
  else await traceProgram(target.value, args.slice(target.index + 1), settings)
}

async function traceProcess(pid, { file, seconds: given, cpu }) {
  const seconds = given ?? defaultSeconds
  const program = await openProgram(pid)
  const progress = new Progress(1, seconds * 1000)
  let descriptor = null
  try {
    if (process.stderr.isTTY) progress.next(`recording for ${seconds} s`)
    await program.trace({ seconds, cpu }, part => {
      descriptor ??= openSync(file, 'w')
      writeFileSync(descriptor, part)
    })
  } finally {
    progress.end()
    if (descriptor !== null) closeSync(descriptor)
    // An open connection keeps the command alive.
    program.close()
  }
  tell(file)
}

async function traceProgram(program, args, settings) {
  const { file } = settings
  // An old file must not be taken for the new one.
  rmSync(file, { force: true })
  const child = spawn(process.execPath, ['--require', preload, program, ...args], {
    stdio: 'inherit',
    env: { ...process.env, LIDO_TRACE: JSON.stringify(settings) },
  })
  const forget = forwardSignals(child)
  const [code, signal] = await new Promise((done, fail) => {
    child.once('error', fail)
    child.once('exit', (...end) => done(end))
  })
  if (existsSync(file)) tell(file)
  else process.stderr.write(`The program ended without a trace in ${file}.\n`)
  forget()
  if (signal !== null) process.kill(process.pid, signal)
  process.exitCode = code ?? 1
}

/** On a terminal, Ctrl-C reaches the program by itself. */
function forwardSignals(child) {
  let count = 0
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const onSignal = signal => {
    if (++count >= signalsUntilKill) child.kill('SIGKILL')
    else if (signal !== 'SIGINT' || process.stdin.isTTY !== true) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
}

/** A recording whose file cannot be written would be lost. */
function checkFile(file) {
  try {
    accessSync(dirname(file), constants.W_OK)
    if (!existsSync(file) || statSync(file).isFile()) return
  } catch {
    // The message is the same.
  }
  throw new CommandError(`${file} cannot be written. Give another file with --out.`)
}

function parseSeconds(text) {
  const seconds = Number(text)
  if (seconds > 0 && seconds <= mostSeconds) return seconds
  throw new CommandError(`'--seconds ${text}': give a number above 0, at most ${mostSeconds}.`, 2)
}

function tell(file) {
  process.stderr.write(`The trace is in ${relative(process.cwd(), file) || file}. ${viewers}\n`)
}
