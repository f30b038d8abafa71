// The command `npm run faults`: every fault against every pool, as a table. `--help` lists the options.
import { writeFileSync } from 'node:fs'
import { describeMachine, readVersion } from '../../../bench/machine.js'
import { openCorpus } from './corpus.js'
import { loadAdapter } from './load-adapter.js'
import { readOptions, usage } from './options.js'
import { formatPage, formatText, titleOf } from './report.js'
import { judgeAll } from './round.js'

const page = new URL('../../../docs/faults.md', import.meta.url)

function tryReadOptions() {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`)
    process.exit(2)
  }
}

async function chooseScenarios(texts) {
  const corpus = openCorpus()
  const all = await Promise.all(corpus.ids.map(id => corpus.load(id)))
  const isChosen = ({ id, title }) =>
    texts.some(text => `${id} ${title}`.toLowerCase().includes(text.toLowerCase()))
  return texts.length === 0 ? all : all.filter(isChosen)
}

async function main() {
  const { columns, only, jobs, json, save, help } = tryReadOptions()
  if (help) return console.log(usage)
  const scenarios = await chooseScenarios(only)
  if (scenarios.length === 0) {
    console.error(`no fault has the text '${only.join("' or '")}'`)
    process.exitCode = 2
    return
  }
  const results = await judgeAll({ scenarios, columns, jobs, onVerdict: showProgress })
  const poolNames = [...new Set(columns.map(({ poolName }) => poolName))]
  const adapters = await Promise.all(poolNames.map(async name => [name, await loadAdapter(name)]))
  const report = {
    date: new Date().toISOString(),
    machine: describeMachine(),
    columns,
    poolNames,
    versions: Object.fromEntries(adapters.map(([name, { packageName }]) => [name, readVersion(packageName)])),
    settings: Object.fromEntries(adapters.map(([name, { settings }]) => [name, settings])),
    results,
  }
  console.log(json ? JSON.stringify(report, null, 2) : formatText(report))
  if (save) {
    writeFileSync(page, formatPage(report))
    console.error('saved as docs/faults.md')
  }
}

function showProgress({ verdict, fault, ...column }, done, total) {
  console.error(`${String(done).padStart(4)} of ${total}  ${verdict.padEnd(6)}${titleOf(column)}  ${fault}`)
}

await main()
process.exit()
