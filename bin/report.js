// The report of `npx lido top`: the pools of a program as lines of text. Fields that an older lido does not give are left out.
import { basename } from 'node:path'

const barWidth = 20

/** @param earlier the figures of the report before, for the time since then; `null` at the first report */
export function report({ pid, program, node, uptimeMs, pools }, earlier) {
  const lines = [
    `${program === null ? '-' : basename(program)}  PID ${pid}  node ${node}  up ${formatMs(uptimeMs)}`,
  ]
  if (pools.length === 0) lines.push('', 'The program has no open pool.')
  for (const pool of pools) {
    const before = earlier?.pools.find(({ id, label }) => id === pool.id && label === pool.label)
    lines.push('', ...poolLines(pool, before))
  }
  // A label is a text of the program. It must not move the cursor.
  return lines.map(line => line.replaceAll(/\p{Cc}/gu, '?'))
}

function poolLines(pool, before) {
  const { tasks, queue } = pool
  const rate = before === undefined ? '' : `  ${tasksPerSecond(pool, before)} tasks/s`
  const limit = queue.limit === null ? '' : ` of ${queue.limit}`
  const oldest = queue.oldestMs == null ? '' : `, oldest ${formatMs(queue.oldestMs)}`
  const lines = [
    `pool ${pool.label}  ${pool.state}  ${pool.backend}${rate}`,
    `  queue ${queue.size}${limit}${oldest}   in flight ${tasks.inFlight}   fulfilled ${tasks.fulfilled}   rejected ${tasks.rejected}   cancelled ${tasks.cancelled}`,
  ]
  if (pool.waitingFor != null) lines.push(`  waiting for: ${pool.waitingFor}`)
  if (pool.waitTime !== null) {
    lines.push(`  wait ${formatDurations(pool.waitTime)}   run ${formatDurations(pool.runTime)}`)
  }
  lines.push(...indent(workerLines(pool, before)), ...indent(handlerLines(pool)))
  for (const { reason, count } of pool.endedWorkers ?? []) lines.push(`  ended workers: ${count} (${reason})`)
  return lines
}

function tasksPerSecond(pool, before) {
  const seconds = (pool.durationMs - before.durationMs) / 1000
  return seconds > 0 ? round((pool.tasks.completed - before.tasks.completed) / seconds) : 0
}

function workerLines(pool, before) {
  const rows = pool.workers.map(worker => {
    const busy = busyOf(
      worker,
      before?.workers.find(({ id }) => id === worker.id),
    )
    return [
      `worker ${worker.id}`,
      worker.state,
      bar(busy),
      busy === null ? '-' : `${Math.round(busy * 100)} %`,
      String(worker.usage),
      orDash(worker.answered, String),
      orDash(worker.memoryMb, memory => `${Math.round(memory)} MiB`),
      orDash(worker.ageMs, formatMs),
    ]
  })
  return table(['worker', 'state', '', 'busy', 'running', 'answered', 'memory', 'age'], rows)
}

function handlerLines({ handlers }) {
  if (handlers.length === 0) return []
  const rows = handlers.map(({ name, filename, ...handler }) => [
    `${name} (${basename(filename)})`,
    ...[handler.p50Ms, handler.p99Ms, handler.runMs, handler.cpuMs].map(ms => orDash(ms, formatMs)),
    ...[handler.fulfilled, handler.rejected, handler.cancelled].map(count => orDash(count, String)),
  ])
  const titles = ['handler', 'p50', 'p99', 'mean', 'mean CPU', 'fulfilled', 'rejected', 'cancelled']
  return table(titles, rows)
}

/** The part of the time since the report before in which the worker ran tasks, or of its life at the first report. `null`: not known. */
function busyOf({ busy, ageMs }, before) {
  if (busy == null) return null
  if (before?.busy == null || ageMs === before.ageMs) return busy
  const share = (busy * ageMs - before.busy * before.ageMs) / (ageMs - before.ageMs)
  return Math.min(1, Math.max(0, share))
}

function orDash(value, format) {
  return value == null ? '-' : format(value)
}

function bar(share) {
  const filled = Math.round((share ?? 0) * barWidth)
  return share === null ? '' : '█'.repeat(filled).padEnd(barWidth, '·')
}

/** Lines with columns of words. */
export function table(titles, rows) {
  const all = [titles, ...rows]
  const widths = titles.map((_, column) => Math.max(...all.map(row => row[column].length)))
  return all.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  )
}

function indent(lines) {
  return lines.map(line => `  ${line}`)
}

function formatDurations({ p50Ms, p99Ms, maxMs }) {
  return `p50 ${formatMs(p50Ms)}, p99 ${formatMs(p99Ms)}, max ${formatMs(maxMs)}`
}

export function formatMs(ms) {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`
  if (ms < 1000) return `${round(ms)} ms`
  if (ms < 120_000) return `${round(ms / 1000)} s`
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${round(ms / 3_600_000)} h`
}

/** Three figures are enough to read. */
function round(number) {
  return number < 100 ? Math.round(number * 10) / 10 : Math.round(number)
}
