// `npx lido bench FILE`: measures a function on the main thread and in pools, and says whether a pool helps.
import { fork } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { constants, cpus, loadavg } from 'node:os'
import { extname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installPools, otherPools, poolsOfProject } from './bench-packages.js'
import { advise, resultTable, warningsFor, wrapped } from './bench-report.js'
import { CommandError } from './command-error.js'
import { Progress } from './progress.js'
import { quoted } from './project.js'

const contestant = fileURLToPath(new URL('bench-contestant.js', import.meta.url))
const options = {
  name: { type: 'string', default: 'default' },
  payload: { type: 'string' },
  'payload-module': { type: 'string' },
  workers: { type: 'string' },
  seconds: { type: 'string', default: '2' },
  with: { type: 'string', default: '' },
  json: { type: 'boolean', default: false },
}
const mostSeconds = 60
const mostWorkers = 1024
/** Start, warm-up and end of a measurement, in units of `--seconds`, and in milliseconds. */
const partsOfStep = 2
const startMs = 500
/** How much longer than planned a measurement may take before the command says that a call may never end. */
const patienceSeconds = 10
/** Below this run time, the command also measures `pool.map()`, which puts several items into a task. */
const shortMs = 0.5
const noArgument =
  'The function has a parameter, and got no argument. Give one with --payload or --payload-module.'

export async function bench(args) {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options })
  const [file, extra] = positionals
  if (file === undefined)
    throw new CommandError('Name the file of your function: npx lido bench src/work.js', 2)
  if (extra !== undefined) throw new CommandError(`'${extra}' is one argument too many.`, 2)
  const order = {
    file: fileOf(file, 'The file of the function'),
    name: values.name,
    payload: payloadOf(values),
    seconds: numberOf(values.seconds, '--seconds', { above: 0, most: mostSeconds }),
    workers: values.workers === undefined ? undefined : wholeNumberOf(values.workers, '--workers'),
  }
  const names = listed(values.with)
  endBySignals()
  const installed = await installPools(names)
  try {
    const warnings = warningsFor(loadavg()[0], cpus().length)
    const results = await measure(order, [...installed.pools, ...poolsOfProject(installed.pools)])
    if (results[0].parameters > 0 && Object.keys(order.payload).length === 0) warnings.unshift(noArgument)
    show(order, results, warnings, values.json)
  } finally {
    installed.remove()
  }
}

/** Ends the command by `process.exit()`, whose event ends the measurement and removes the temporary folder. */
function endBySignals() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
}

async function measure(order, others) {
  const progress = new Progress(2 + others.length, order.seconds * partsOfStep * 1000 + startMs)
  const run = (label, fields) => {
    progress.next(label)
    return runContestant({ ...order, ...fields })
  }
  try {
    const main = await run('main thread', { kind: 'main' })
    if (main.problem !== undefined) throw new CommandError(main.problem, main.exitCode)
    order.workers ??= main.usableCores
    const isShort = main.medianMs < shortMs
    if (isShort) progress.addStep()
    const lido = await run('lido', { kind: 'lido' })
    if (lido.problem !== undefined) throw new CommandError(`In a worker, the function fails: ${lido.problem}`)
    const results = [
      { label: main.isInline ? 'main thread (inline)' : 'main thread', kind: 'main', ...main },
      { label: 'lido', kind: 'lido', ...lido },
    ]
    if (isShort)
      results.push({ label: 'lido, map()', kind: 'map', ...(await run('lido, map()', { kind: 'map' })) })
    for (const { name, version, entry } of others) {
      const label = `${name} ${version}`
      results.push({ label, kind: name, ...(await run(label, { kind: name, entry })) })
    }
    return results
  } finally {
    progress.end()
  }
}

/** Each measurement has a process of its own. Resolves to its figures, or to a `problem`. */
function runContestant(order) {
  return new Promise(done => {
    const child = fork(contestant, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'json' })
    const patience = order.seconds * 2 * partsOfStep + patienceSeconds
    const hint = setTimeout(() => {
      process.stderr.write(
        `\nNo figures after ${patience} s: a call may never end. Ctrl-C stops the command.\n`,
      )
    }, patience * 1000)
    // A function that blocks the process would keep it alive without its parent.
    const kill = () => child.kill('SIGKILL')
    process.once('exit', kill)
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      errors = (errors + text).slice(-2000)
    })
    child.once('message', figures => {
      clearTimeout(hint)
      done(figures)
    })
    child.once('error', error => done({ problem: error.message, exitCode: 1 }))
    child.once('close', (code, signal) => {
      clearTimeout(hint)
      process.off('exit', kill)
      done({
        problem: `The process ended (${signal ?? `exit code ${code}`}).\n${errors}`.trim(),
        exitCode: 1,
      })
    })
    child.send(order)
  })
}

function show(order, results, warnings, isJson) {
  const { usableCores } = results[0]
  const advice = advise(results, order.workers, usableCores)
  const missing = otherPools.filter(name => !results.some(({ kind }) => kind === name))
  if (isJson) {
    const figures = results.map(({ usableCores: _, parameters: __, ...result }) => result)
    const report = { workers: order.workers, results: figures, advice, warnings }
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    return
  }
  const name = order.name === 'default' ? 'The default export' : order.name
  const where = relative(process.cwd(), order.file).replaceAll('\\', '/')
  const head = `${name} of ${where}, ${order.workers} ${order.workers === 1 ? 'worker' : 'workers'}, Node ${process.version}`
  const lines = [head, '', ...resultTable(results), '', ...advice.flatMap(text => [...wrapped(text), ''])]
  if (missing.length > 0)
    lines.push(
      ...wrapped(
        `Not installed here: ${missing.join(', ')}. With --with ${missing.join(',')} the command installs and measures them, too.`,
      ),
      '',
    )
  const last = 'These figures are of one run on this machine. Other programs that run now change them.'
  const notes = warnings.length > 0 ? warnings : [last]
  lines.push(...notes.flatMap(text => [...wrapped(text), '']).slice(0, -1))
  process.stdout.write(`${lines.join('\n')}\n`)
}

function listed(text) {
  const names = text.split(',').filter(name => name !== '')
  const other = names.find(name => !otherPools.includes(name))
  if (other !== undefined)
    throw new CommandError(`'--with ${other}': the command knows ${otherPools.join(' and ')}.`, 2)
  return names
}

/** `{ json }` or `{ module }`; nothing for a call without an argument. */
function payloadOf({ payload, 'payload-module': module }) {
  if (payload !== undefined && module !== undefined)
    throw new CommandError('Give --payload or --payload-module, and not both.', 2)
  if (module !== undefined) return { module: fileOf(module, 'The file of --payload-module') }
  if (payload === undefined) return {}
  const isFile = extname(payload) === '.json' && statSync(payload, { throwIfNoEntry: false })?.isFile()
  const json = isFile ? readFileSync(payload, 'utf8') : payload
  try {
    JSON.parse(json)
    return { json }
  } catch (error) {
    throw new CommandError(
      `'--payload ${payload}' is no JSON, and no file that ends in .json: ${error.message}\nNames and texts need double quotes: --payload ${quoted('{"to":50000}')}, --payload ${quoted('"a text"')}`,
      2,
    )
  }
}

function fileOf(path, title) {
  const file = resolve(path)
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file
  throw new CommandError(`${title} ${existsSync(file) ? 'is no file' : 'does not exist'}: ${path}`, 2)
}

function numberOf(text, option, { above, most }) {
  const number = Number(text)
  if (text.trim() !== '' && number > above && number <= most) return number
  throw new CommandError(`'${option} ${text}': give a number above ${above}, at most ${most}.`, 2)
}

function wholeNumberOf(text, option) {
  const number = numberOf(text, option, { above: 0, most: mostWorkers })
  if (Number.isInteger(number)) return number
  throw new CommandError(`'${option} ${text}': give a whole number.`, 2)
}
