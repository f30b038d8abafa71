// Measures one way to run the function, in a process of its own. The process gets the order as a message, and answers with figures.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { serialize } from 'node:v8'

/** A problem with the arguments of the command has the exit code 2, a problem of the function 1. */
class Problem extends Error {
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

const warmUpShare = 0.25
/** The main thread gets a turn at least this often, as a server gives it between two requests. */
const turnMs = 1
const mostDurations = 200_000
/** Calls that are under way at the same time. More of them keep the workers busy while a short call travels. */
const callsFor = (medianMs, workers) => (medianMs < 1 ? 64 : medianMs < 100 ? 4 * workers : workers)

process.once('disconnect', () => process.exit(1))
process.once('message', async order => {
  const answer = await measure(order).catch(error => ({
    problem:
      error instanceof Problem ? error.message : `${error?.name ?? 'Error'}: ${error?.message ?? error}`,
    exitCode: error instanceof Problem ? error.exitCode : 1,
  }))
  process.send(answer, () => process.exit(0))
})

async function measure(order) {
  const payload = await loadPayload(order.payload)
  if (order.kind === 'main') return await measureMain(order, payload)
  const pool = await openPool(order)
  if (order.kind === 'map') return await measureMap(order, pool, payload)
  return await measurePool(order, () => pool.run(payload))
}

async function loadPayload({ json, module }) {
  if (json !== undefined) return JSON.parse(json)
  if (module === undefined) return undefined
  const { default: value } = await load(module)
  return typeof value === 'function' ? await value() : value
}

async function load(file) {
  try {
    return await import(pathToFileURL(file).href)
  } catch (error) {
    const isTypeScript = error.code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?ts$/.test(file)
    const advice = isTypeScript
      ? "\nThis Node runs no TypeScript. Use Node 22.18 or newer, or: NODE_OPTIONS='--import tsx' npx lido bench …"
      : ''
    throw new Problem(`${file} cannot be loaded: ${error.message}${advice}`)
  }
}

async function loadHandler({ file, name }) {
  const module = await load(file)
  const ofCommonJs = module.default ?? {}
  const handler = module[name] ?? (Object.hasOwn(ofCommonJs, name) ? ofCommonJs[name] : undefined)
  if (typeof handler === 'function') {
    await (module.setup ?? ofCommonJs.setup)?.()
    return handler
  }
  const names = [...new Set([...Object.keys(module), ...Object.keys(ofCommonJs)])].filter(
    key => typeof (module[key] ?? ofCommonJs[key]) === 'function',
  )
  const choice = names.length > 0 ? `Choose one with --name: ${names.join(', ')}.` : 'It exports no function.'
  const wanted =
    name === 'default' ? 'has no function as its default export' : `exports no function '${name}'`
  throw new Problem(`${file} ${wanted}. ${choice}`, 2)
}

async function measureMain(order, payload) {
  const handler = await loadHandler(order)
  const payloadBytes = checkCopy(payload, 'The payload')
  const startedAt = performance.now()
  const { call, result, isInline } = await firstCall(order, () => handler(payload), payload)
  const resultBytes = checkCopy(result, 'The result of the function')
  const warmUp = warmUpAfter(startedAt, order.seconds)
  if (warmUp > 0) await callInTurn(call, warmUp)
  const before = performance.eventLoopUtilization()
  const watch = watchDelay()
  const { durations, rate } = await callInTurn(call, order.seconds)
  const { utilization } = performance.eventLoopUtilization(before)
  const usableCores = await countUsableCores()
  return {
    ...{ rate, medianMs: median(durations), delayMs: watch.end() },
    ...{ activeShare: utilization, payloadBytes, resultBytes, usableCores, isInline },
    parameters: handler.length,
  }
}

/** A function that uses `context` of lido/worker needs a pool. On the main thread, a pool with the backend 'inline' runs it. */
async function firstCall({ file, name }, call, payload) {
  try {
    return { call, result: await call(), isInline: false }
  } catch (error) {
    if (error?.code === 'ERR_LIDO_OUTSIDE_TASK') {
      const { Pool } = await import('../dist/esm/index.js')
      const pool = new Pool({ backend: 'inline', filename: file, name, performanceWarnings: false })
      const callInline = () => pool.run(payload)
      return { call: callInline, result: (await firstCall({}, callInline)).result, isInline: true }
    }
    throw new Problem(
      `The function fails: ${error?.stack ?? error}\nGive its argument with --payload or --payload-module.`,
    )
  }
}

/** The seconds for warming up: 0 after a long first call, because the command should take less than a minute. */
function warmUpAfter(startedAt, seconds) {
  return Math.max(0, seconds * warmUpShare - (performance.now() - startedAt) / 1000)
}

/** The size of a value that can be copied; 0 for a value that is moved or shared. */
function checkCopy(value, title) {
  try {
    structuredClone(value)
  } catch (error) {
    if (isMoveError(error)) return 0
    throw new Problem(`${title} cannot be copied between threads: ${error.message}`)
  }
  try {
    return serialize(value).length
  } catch {
    // Shared memory is not copied.
    return 0
  }
}

/** Only lido can send what move() returns, also inside another value. */
function isMoveError({ message }) {
  return message.startsWith('A value of move() ')
}

/** Calls one after another. */
async function callInTurn(call, seconds) {
  const durations = []
  const startedAt = performance.now()
  const deadline = startedAt + seconds * 1000
  let count = 0
  let turnAt = startedAt
  let now = startedAt
  while (now < deadline || count === 0) {
    const from = now
    const value = call()
    if (typeof value?.then === 'function') await value
    now = performance.now()
    durations[count++ % mostDurations] = now - from
    if (now - turnAt < turnMs) continue
    await nextTurn()
    now = performance.now()
    turnAt = now
  }
  return { durations, rate: (count / (now - startedAt)) * 1000 }
}

async function measurePool({ seconds, workers }, run) {
  const startedAt = performance.now()
  await run()
  const warmUp = warmUpAfter(startedAt, seconds)
  if (warmUp > 0) await callTogether(run, workers, warmUp)
  const { durations } = await callInTurn(run, seconds / 2)
  const medianMs = median(durations)
  const watch = watchDelay()
  const rate = await callTogether(run, callsFor(medianMs, workers), seconds)
  return { rate, medianMs, delayMs: watch.end() }
}

/** Keeps a number of calls under way. Resolves to the calls a second. */
async function callTogether(run, calls, seconds) {
  const startedAt = performance.now()
  const deadline = startedAt + seconds * 1000
  let count = 0
  const lane = async () => {
    do {
      await run()
      count++
    } while (performance.now() < deadline)
  }
  await Promise.all(Array.from({ length: calls }, lane))
  return (count / (performance.now() - startedAt)) * 1000
}

async function measureMap({ seconds }, pool, payload) {
  const mapFor = async duration => {
    const startedAt = performance.now()
    const deadline = startedAt + duration * 1000
    function* items() {
      do yield payload
      while (performance.now() < deadline)
    }
    let count = 0
    for await (const _ of pool.map(items())) count++
    return (count / (performance.now() - startedAt)) * 1000
  }
  await mapFor(seconds * warmUpShare)
  const watch = watchDelay()
  const rate = await mapFor(seconds)
  return { rate, medianMs: null, delayMs: watch.end() }
}

async function openPool({ kind, entry, file, name, workers }) {
  if (kind === 'lido' || kind === 'map') {
    const { Pool } = await import('../dist/esm/index.js')
    const limits = { minWorkers: workers, maxWorkers: workers, performanceWarnings: false }
    const pool = new Pool({ filename: file, name, ...limits })
    await pool.ready()
    return pool
  }
  const library = await import(pathToFileURL(entry).href)
  const Class = (kind === 'piscina' ? library.Piscina : library.Tinypool) ?? library.default
  const limits = { minThreads: workers, maxThreads: workers, idleTimeout: 60_000 }
  return new Class({ filename: pathToFileURL(file).href, name, ...limits })
}

/** The cores that lido uses without options: the cores of the machine, or the CPU quota of a container. */
async function countUsableCores() {
  const { Pool } = await import('../dist/esm/index.js')
  const pool = new Pool({ minWorkers: 0 })
  const { maxWorkers } = pool.options
  await pool.close()
  return maxWorkers
}

/** Watches how late the event loop is. `end()` gives the milliseconds that 99 of 100 turns did not exceed. */
function watchDelay() {
  const resolution = 1
  const histogram = monitorEventLoopDelay({ resolution })
  histogram.enable()
  return {
    end() {
      histogram.disable()
      return Math.max(0, histogram.percentile(99) / 1e6 - resolution)
    },
  }
}

function median(durations) {
  const sorted = Float64Array.from(durations).sort()
  return sorted[sorted.length >> 1]
}
