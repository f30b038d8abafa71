// The result of `npx lido bench`: a table, and what the figures mean. `advise()` only compares numbers.
import { readFileSync } from 'node:fs'
import { formatMs, table } from './report.js'

const { homepage } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const columns = 80
/** Below this part of its time, a handler blocks the main thread so little that it mostly waits. */
const waitingShare = 0.2
/** Rates that differ by less are level: two runs of one pool differ as much. */
const levelRatio = 1.15
const largeBytes = 64 * 1024
/** From this run time on, a hand-over that takes longer is due to the size of the values. */
const longMs = 1
/** Other programs keep at least this part of the cores busy. */
const busyShare = 0.5

export function resultTable(results) {
  const rows = results.map(({ label, problem, rate, medianMs, delayMs }) =>
    problem === undefined
      ? [label, formatRate(rate), medianMs === null ? '-' : formatCall(medianMs), formatMs(delayMs)]
      : [label, 'fails', '', ''],
  )
  const problems = results.flatMap(({ label, problem }) =>
    problem === undefined ? [] : ['', ...wrapped(`${label} fails: ${problem.split('\n')[0]}`)],
  )
  return [...table(['', 'calls a second', 'one call', 'main thread late by'], rows), ...problems]
}

/**
 * Sentences that say whether a pool helps, and how to use it.
 * @param results figures of `main`, `lido`, and if measured of `map`, `piscina` and `tinypool`
 */
export function advise(results, workers, usableCores) {
  const of = kind => results.find(result => result.kind === kind && result.problem === undefined)
  const [main, lido, map] = ['main', 'lido', 'map'].map(of)
  const others = ['piscina', 'tinypool'].map(of).filter(other => other !== undefined)
  if (main.activeShare < waitingShare) return adviceForWaiting(main)
  if (main.isInline) {
    const note =
      'The function uses context of lido/worker, so the main thread ran it through an inline pool. That takes longer than a plain call. Without context the command can say whether a pool helps.'
    return others.length > 0 ? [note, compare(lido, others)] : [note]
  }
  const handOverMs = Math.max(0, lido.medianMs - main.medianMs)
  // A higher rate counts more than the delay of a single call.
  const isShort = main.medianMs < handOverMs && lido.rate < main.rate * levelRatio
  const advice = isShort
    ? adviceForShort(main, handOverMs, map)
    : [...adviceForLong(main, lido), adviceForWorkers(lido.rate / main.rate, workers, usableCores)]
  const large = adviceForLarge(main, handOverMs)
  if (large !== undefined) advice.push(large)
  if (others.length > 0) advice.push(compare(lido, others))
  return advice
}

function adviceForWaiting({ activeShare, medianMs }) {
  return [
    `No pool: the function waits. A call takes ${formatCall(medianMs)}, and it blocks the main thread for ${percent(activeShare)} of this time. Call it directly, many times at once if you like.`,
  ]
}

function adviceForShort({ medianMs, rate }, handOverMs, map) {
  const head =
    medianMs < longMs
      ? `The function is too short for single calls: it runs for ${formatCall(medianMs)}, and a call through the pool adds ${formatMs(handOverMs)}.`
      : `A call through the pool adds ${formatMs(handOverMs)}, and the function runs for only ${formatMs(medianMs)}.`
  if (map !== undefined && map.rate > rate * levelRatio)
    return [
      `${head} Put many items into one task: pool.map() reached ${formatRate(map.rate)} items a second, ${times(map.rate / rate)} the rate of the main thread.${seeAlso('guides/map.html')}`,
    ]
  return [
    `${head} Call it on the main thread. A pool helps only if one task does more work${map === undefined ? '' : ': here pool.map() is not faster either'}.`,
  ]
}

function adviceForLong(main, lido) {
  const ratio = lido.rate / main.rate
  const delay = `The main thread was late by ${formatMs(lido.delayMs)}, and by ${formatMs(main.delayMs)} without a pool.`
  if (ratio > levelRatio)
    return [`A pool helps: lido ran ${times(ratio)} as many calls a second as the main thread. ${delay}`]
  const isFreer = main.delayMs > 2 * lido.delayMs && main.delayMs > 2
  return isFreer
    ? [
        `A pool runs no more calls a second here (${times(ratio)} the rate of the main thread). It helps if the main thread has other work, as a server has. ${delay}`,
      ]
    : [`A pool gains nothing here: it has ${times(ratio)} the rate of the main thread. ${delay}`]
}

function adviceForWorkers(ratio, workers, usableCores) {
  if (workers > usableCores)
    return `Use at most ${usableCores} ${usableCores === 1 ? 'worker' : 'workers'}, the usable cores. More workers of a function that computes only share them.`
  if (workers > 1 && ratio < workers * 0.6)
    return `${workers} workers gained less than ${workers} times the rate. They may share cores, memory or a lock. Try --workers ${Math.ceil(workers / 2)}, too.`
  return workers < usableCores
    ? `Up to ${usableCores} workers may gain more: this machine has ${usableCores} usable cores.`
    : `Leave maxWorkers at its default, the usable cores (${usableCores} here).`
}

function adviceForLarge({ medianMs, payloadBytes, resultBytes }, handOverMs) {
  const bytes = Math.max(payloadBytes, resultBytes)
  if (bytes < largeBytes || handOverMs < medianMs * 0.1) return undefined
  const [what, others] =
    payloadBytes >= resultBytes
      ? ['The payload', 'share values that stay the same with share(), or let the worker read the file']
      : ['The result', 'or return less']
  return `${what} has ${formatBytes(bytes)}, and each call copies it. Move byte arrays with move(), ${others}.${seeAlso('recipes/large-data.html')}`
}

function compare(lido, others) {
  const parts = others.map(({ label, rate }) => {
    const ratio = lido.rate / rate
    if (ratio > levelRatio) return `lido ran ${times(ratio)} as many calls a second as ${label}.`
    if (ratio < 1 / levelRatio) return `${label} ran ${times(1 / ratio)} as many calls a second as lido.`
    return `lido and ${label} are level here.`
  })
  return parts.join(' ')
}

/** A warning about other programs, in a list; an empty list on an idle machine. */
export function warningsFor(load, cores) {
  return load > cores * busyShare
    ? [
        `Other programs kept this machine busy (load ${load.toFixed(1)}, ${cores} cores), so the figures are not reliable. Repeat the command when it is idle.`,
      ]
    : []
}

function seeAlso(page) {
  return homepage === undefined ? '' : ` See ${homepage.replace(/\/?$/, '/')}${page}`
}

/** The lines of a paragraph. */
export function wrapped(text) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== '' && line.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

function formatCall(ms) {
  return ms < 0.001 ? 'less than 1 µs' : formatMs(ms)
}

function formatRate(rate) {
  return rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en-US')
}

function times(ratio) {
  return `${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio)} times`
}

function percent(share) {
  return share < 0.01 ? 'less than 1 %' : `${Math.round(share * 100)} %`
}

function formatBytes(bytes) {
  return bytes < 2 ** 20 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
