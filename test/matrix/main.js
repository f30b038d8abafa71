// npm run matrix -- [--wise N] [--backend NAME] [--match TEXT] [--at-once N] [--limit MS] [--until-failure] [--pool MODULE]
// Plays every case. --wise selects cases that contain each combination of the values of N axes. --match selects the cases whose name
// contains the text. Several cases run at the same time, each in its own pool. The exit code is 1 when a case failed. With
// --until-failure the program kills itself with SIGKILL at the first failure, because a failed case may leave threads alive.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { axes, everyCase } from './axes.js'
import { cover } from './cover.js'
import { exclusions, whyExcluded } from './exclusions.js'
import { verdictOf } from './oracle.js'
import { playAll } from './run.js'

const flags = readFlags()
// Compiled sources, for `--pool`, are ES modules. They have no `__dirname`, where the published code looks for the files of workers.
globalThis.__dirname = fileURLToPath(new URL('../../dist/cjs', import.meta.url))
const { Pool } = await import(flags.pool)
/** Uncaught exceptions, unhandled rejections and warnings of this process. */
const processFailures = []
process.on('uncaughtException', error => onProcessFailure(`uncaught exception: ${error?.stack ?? error}`))
process.on('unhandledRejection', error => onProcessFailure(`unhandled rejection: ${error?.stack ?? error}`))
process.on('warning', warning => onProcessFailure(`warning: ${warning.stack}`))

const cases = selectCases()
const startedAt = performance.now()
let failed = 0
const left = await playAll(Pool, cases, {
  atOnce: Number(flags['at-once']),
  limitMs: Number(flags.limit),
  onResult({ theCase, problems }) {
    if (problems.length === 0) return
    failed++
    console.log(`FAILED ${theCase.name}\n${problems.map(problem => `  ${problem}`).join('\n')}`)
    if (flags['until-failure']) process.kill(process.pid, 'SIGKILL')
  },
})
for (const entry of left) console.log(`FAILED left over: ${entry}`)
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
console.log(`${cases.length} cases played in ${seconds} s, ${failed} failed`)
process.exit(failed + processFailures.length + left.length === 0 ? 0 : 1)

function readFlags() {
  const options = {
    wise: { type: 'string' },
    backend: { type: 'string', multiple: true, default: axes.backend },
    match: { type: 'string', default: '' },
    'at-once': { type: 'string', default: '6' },
    limit: { type: 'string', default: '60000' },
    'until-failure': { type: 'boolean', default: false },
    pool: { type: 'string', default: 'lido' },
  }
  const usage = `Usage: npm run matrix -- [options]: ${Object.keys(options)
    .map(name => `--${name}`)
    .join(', ')}`
  try {
    const { help, ...flags } = parseArgs({ options: { ...options, help: { type: 'boolean' } } }).values
    if (!help) return flags
    console.log(usage)
    process.exit(0)
  } catch ({ message }) {
    console.error(`${message}\n${usage}`)
    process.exit(2)
  }
}

function onProcessFailure(failure) {
  processFailures.push(failure)
  console.log(`FAILED ${failure}`)
  if (flags['until-failure']) process.kill(process.pid, 'SIGKILL')
}

function selectCases() {
  const reasons = new Map(exclusions.map(({ because }) => [because, 0]))
  const all = []
  for (const theCase of everyCase()) {
    const because = whyExcluded(theCase)
    if (because === null) all.push(theCase)
    else reasons.set(because, reasons.get(because) + 1)
  }
  const { chosen, combinations } = flags.wise === undefined ? { chosen: all } : cover(all, Number(flags.wise))
  const selected = chosen.filter(
    ({ backend, name }) => flags.backend.includes(backend) && name.includes(flags.match),
  )
  const open = selected.filter(theCase =>
    Object.values(verdictOf(theCase)).some(verdict => verdict?.allowed.length > 1),
  )
  console.log(`${all.length} cases. These combinations are not cases:`)
  for (const [because, count] of reasons) console.log(`  ${count}: ${because}`)
  if (combinations !== undefined)
    console.log(
      `${chosen.length} cases contain all ${combinations} combinations of the values of ${flags.wise} axes`,
    )
  console.log(
    `${selected.length} cases are played. In ${open.length} of them, a task may have more than one outcome.`,
  )
  return selected
}
