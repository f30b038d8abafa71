// Runs every row of the table of set-ups, also the heavy ones, and prints the table. Needs the npm registry.
//   node test/setups/main.js            all rows
//   node test/setups/main.js next       the rows of test/setups/next.heavy.js
//   node test/setups/main.js recipes    the recipes of test/setups/recipes.heavy.js, which has no rows
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const withoutRows = ['recipes.heavy.js', 'servers.heavy.js']
const wanted = process.argv.slice(2)
const files = readdirSync(folder)
  .filter(name => /\.(test|heavy)\.js$/.test(name))
  .filter(name => wanted.length === 0 || wanted.includes(name.split('.')[0]))
const place = mkdtempSync(join(tmpdir(), 'lido-table-'))
const table = join(place, 'table')

for (const name of files) {
  const child = spawn(process.execPath, ['--test', '--test-reporter=spec', join(folder, name)], {
    env: { ...process.env, LIDO_SETUPS_ALL: '1', LIDO_SETUPS_TABLE: table },
    stdio: 'inherit',
  })
  const [exitCode] = await once(child, 'exit')
  if (exitCode !== 0) process.exitCode = 1
}

const rows = existsSync(table)
  ? readFileSync(table, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  : []
const columns = ['setup', 'tried', 'result', 'remedy']
console.log(`\n| set-up | tried with | result | do this |\n|---|---|---|---|`)
for (const row of rows) console.log(`| ${columns.map(column => row[column]).join(' | ')} |`)
const page = readFileSync(new URL('../../docs/guides/set-ups.md', import.meta.url), 'utf8')
for (const { setup } of rows) {
  if (page.includes(`| ${setup} |`)) continue
  console.log(`docs/guides/set-ups.md has no row '${setup}'.`)
  process.exitCode = 1
}
const failed = rows.filter(({ result }) => result === 'FAILED').length
console.log(
  `\n${rows.length} set-ups, ${failed} failed. Node.js ${process.versions.node}, ${process.platform}.`,
)
if (files.length === 0) process.exitCode = 1
if (rows.length === 0 && !files.every(file => withoutRows.includes(file))) process.exitCode = 1
rmSync(place, { recursive: true })
