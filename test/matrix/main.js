// npm run matrix -- [--wise N] [--backend NAME] [--match TEXT] [--at-once N] [--limit MS] [--until-failure] [--pool MODULE]
// Plays every case, or a selection that has each combination of the values of N axes; --match plays those whose name has the
// text. Cases are played several at once, each in a pool of its own. Exit code 1 when something was wrong;
// with --until-failure SIGKILL at the first that is, beside what it has left alive.
import { parseArgs } from 'node:util'
import { axes, everyCase } from './axes.js'
import { cover } from './cover.js'
import { exclusions, whyExcluded } from './exclusions.js'
import { verdictOf } from './oracle.js'
import { playAll } from './run.js'

const flags = readFlags()
const { Pool } = await import(flags.pool)
const strays = []
process.on('uncaughtException', error => onStray(`nobody caught: ${error?.stack ?? error}`))
process.on('unhandledRejection', error => onStray(`nobody handled: ${error?.stack ?? error}`))
process.on('warning', warning => onStray(`a warning: ${warning.stack}`))

const cases = tellCases()
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
process.exit(failed + strays.length + left.length === 0 ? 0 : 1)

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

function onStray(stray) {
  strays.push(stray)
  console.log(`FAILED ${stray}`)
  if (flags['until-failure']) process.kill(process.pid, 'SIGKILL')
}

function tellCases() {
  const reasons = new Map(exclusions.map(({ because }) => [because, 0]))
  const all = []
  for (const theCase of everyCase()) {
    const because = whyExcluded(theCase)
    if (because === null) all.push(theCase)
    else reasons.set(because, reasons.get(because) + 1)
  }
  const { chosen, combinations } = flags.wise === undefined ? { chosen: all } : cover(all, Number(flags.wise))
  const asked = chosen.filter(
    ({ backend, name }) => flags.backend.includes(backend) && name.includes(flags.match),
  )
  const open = asked.filter(theCase =>
    Object.values(verdictOf(theCase)).some(verdict => verdict?.allowed.length > 1),
  )
  console.log(`${all.length} cases; of all combinations these are none:`)
  for (const [because, count] of reasons) console.log(`  ${count}, since ${because}`)
  if (combinations !== undefined)
    console.log(`${chosen.length} cases have all ${combinations} combinations of ${flags.wise} axes`)
  console.log(
    `${asked.length} cases are played; in ${open.length} more than one outcome is allowed to some task`,
  )
  return asked
}
