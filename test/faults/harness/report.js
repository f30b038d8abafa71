// Formats the verdicts as tables: for the terminal, and for the page docs/faults.md.
import { sections } from './corpus.js'
import { ok, skipped, unsupported } from './verdicts.js'

/** Most pools use threads, so the title names only other backends. */
export function titleOf({ poolName, backend }) {
  return backend === 'thread' ? poolName : `${poolName} (${backend})`
}

function isOf(column) {
  return ({ poolName, backend }) => poolName === column.poolName && backend === column.backend
}

function findVerdict(results, fault, column) {
  return results.filter(isOf(column)).find(result => result.fault === fault)?.verdict ?? ''
}

/** How many faults apply to the pool, and how many it survives. */
function countKept(results, column) {
  const own = results.filter(isOf(column))
  const judged = own.filter(({ verdict }) => verdict !== unsupported && verdict !== skipped)
  return { kept: judged.filter(({ verdict }) => verdict === ok).length, judged: judged.length }
}

function bySection(results) {
  const titles = new Map(results.map(({ fault, title }) => [fault, title]))
  return Object.entries(sections)
    .map(([folder, name]) => ({
      name,
      faults: [...titles]
        .filter(([fault]) => fault.startsWith(`${folder}/`))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    }))
    .filter(({ faults }) => faults.length > 0)
}

export function formatText({ results, columns }) {
  const row = (first, cells) => `${first.padEnd(46)}${cells.map(cell => cell.padEnd(16)).join('')}`.trimEnd()
  const lines = [row('', columns.map(titleOf))]
  for (const { name, faults } of bySection(results)) {
    lines.push('', name)
    for (const [fault] of faults)
      lines.push(
        row(
          `  ${fault}`,
          columns.map(column => findVerdict(results, fault, column)),
        ),
      )
  }
  const total = columns.map(column => {
    const { kept, judged } = countKept(results, column)
    return `${kept} of ${judged}`
  })
  lines.push('', row('ok', total))
  const reasons = results.filter(({ verdict, why }) => why !== null && verdict !== unsupported)
  if (reasons.length > 0) lines.push('')
  for (const { fault, verdict, why, ...column } of reasons)
    lines.push(`${titleOf(column)} ${fault} ${verdict}: ${why}`)
  return lines.join('\n')
}

export function formatPage({ results, columns, versions, settings, machine, date }) {
  const cells = values => `| ${values.join(' | ')} |`
  const head = [
    cells(['what a user can expect', ...columns.map(titleOf)]),
    cells(['---', ...columns.map(() => '---')]),
  ]
  const tables = bySection(results).flatMap(({ name, faults }) => [
    `## ${name}`,
    '',
    ...head,
    ...faults.map(([fault, title]) =>
      cells([escapeCell(title), ...columns.map(column => findVerdict(results, fault, column))]),
    ),
    '',
  ])
  const sums = columns.map(column => {
    const { poolName } = column
    const { kept, judged } = countKept(results, column)
    return cells([
      titleOf(column),
      versions[poolName],
      `${kept} of ${judged}`,
      escapeCell(JSON.stringify(settings[poolName])),
    ])
  })
  const skips = [...new Set(results.filter(({ verdict }) => verdict === skipped).map(({ why }) => why))]
  return `# Faults that a pool survives

<!-- Written by \`npm run faults -- --save\`, which overwrites manual changes. -->

For maintainers. This page shows which faults lido and four other pools survive. A row says what a user can expect.

Each fault is one file in \`test/faults\`. Each runs in its own process with a time limit. The tests of lido use the same files.
To make the table again, run \`npm run faults -- --pool lido --pool piscina\`. \`--only\` chooses faults, \`--backend\` the kind of workers.

| result | meaning |
| --- | --- |
| **ok** | The pool does what the row says. |
| **FAIL** | The pool did something else. |
| **HANG** | No answer within ten seconds, or within a shorter limit in the row. |
| **CRASH** | The process ended. |
| **–** | The pool has no such feature, or no pool can prevent the fault. |
| **skip** | This machine could not test it. |

- A limit counts the ticks of the waiting process. So a pause of the machine costs a pool no time.
- Each pool uses its own way to cancel, close and name functions, its defaults, and the settings below.
- The \`error\` event of the other pools has a listener. The event of lido has none.
- All pools run on threads. lido also runs on processes and inline, on the host's own thread. There no pool can save the host from a
  handler that ends or blocks it.

Measured on ${date.slice(0, 10)}: Node ${machine.node}, ${machine.platform}, ${machine.cores} cores (${machine.cpu}).

| pool | version | ok | settings |
| --- | --- | --- | --- |
${sums.join('\n')}
${skips.length === 0 ? '' : `\nSkipped: ${skips.join('; ')}.\n`}
${tables.join('\n').trimEnd()}
`
}

function escapeCell(text) {
  return text
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replace(/\b(__\w+?__)/g, '\\$1')
}
