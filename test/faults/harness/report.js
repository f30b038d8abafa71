// The verdicts as tables: for the terminal, and as the page docs/faults.md.
import { sections } from './corpus.js'
import { ok, skipped, unsupported } from './verdicts.js'

/** Threads are what most pools have, so they are not named. */
export function titleOf({ poolName, backend }) {
  return backend === 'thread' ? poolName : `${poolName} (${backend})`
}

function isOf(column) {
  return ({ poolName, backend }) => poolName === column.poolName && backend === column.backend
}

function findVerdict(results, fault, column) {
  return results.filter(isOf(column)).find(result => result.fault === fault)?.verdict ?? ''
}

/** How many of those that apply to the pool it keeps. */
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
  lines.push('', row('kept', total))
  const reasons = results.filter(({ verdict, why }) => why !== null && verdict !== unsupported)
  if (reasons.length > 0) lines.push('')
  for (const { fault, verdict, why, ...column } of reasons)
    lines.push(`${titleOf(column)} ${fault} ${verdict}: ${why}`)
  return lines.join('\n')
}

export function formatPage({ results, columns, versions, settings, machine, date }) {
  const cells = values => `| ${values.join(' | ')} |`
  const head = [
    cells(['what a user deserves', ...columns.map(titleOf)]),
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
  return `# What a pool survives

<!-- Written by \`npm run faults -- --save\`; what is changed here by hand is lost. -->

Each fault is one file in \`test/faults\` and runs in a process of its own under a hard limit. The same
files are the suite that lido is tested with. \`npm run faults -- --pool lido --pool piscina\` makes the table again; \`--only\`
picks faults, \`--backend\` says where the workers live.

**ok**: kept. **FAIL**: the pool did something else. **HANG**: no answer in ten seconds, or where the line gives less, in that. **CRASH**: the process ended.
**–**: the pool has no such feature, or what happens there is not a pool's to mend, which is no failure. **skip**: this machine could not judge it.

Limits count the waiting process's own ticks, so a machine that pauses takes no time from a pool. Each pool uses its own way to
cancel, close and name functions, and the settings below beside its defaults; a peer's \`error\` event has a listener, lido's has none.
All run on threads; lido on processes too, and on the host's own thread (inline), where nothing can save a host from what ends or blocks it.
Measured on ${date.slice(0, 10)}: Node ${machine.node}, ${machine.platform}, ${machine.cores} cores (${machine.cpu}).

| pool | version | kept | settings |
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
