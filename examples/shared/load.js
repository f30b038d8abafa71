// Loads an HTTP server that runs in a child process. autocannon runs here. The server and the measurement of its event loop run
// there. Latencies come from each response, because the histogram of autocannon has whole ms only.
import autocannon from 'autocannon'
import { Child } from './child.js'
import { askHealth } from './health.js'
import { Latencies } from './latencies.js'

// The warm-up before the measured load. Workers compile more code than one thread, so the warm-up is a time and not a number
// of requests. It has few connections, because the server must still answer the requests that are left in a queue.
const warmUpConnections = 10
const warmUpShare = 0.25

// autocannon checks every `sampleInt` ms whether it is done. Its default, one second, would make every run longer.
const sampleInt = 50
const timeoutSeconds = 60

// `load`: { connections, durationSeconds, path?, asksHealth? }
export async function loadServer(moduleUrl, settings, load, env) {
  const { path = '/', connections, durationSeconds, asksHealth = false } = load
  return await measureServer(
    { moduleUrl, settings, env },
    durationSeconds,
    async (origin, seconds, isWarmUp) => {
      const url = origin + path
      if (isWarmUp) {
        return fire(url, { connections: Math.min(connections, warmUpConnections), durationSeconds: seconds })
      }
      const answers = fire(url, { connections, durationSeconds: seconds })
      if (!asksHealth) return await answers
      const [figures, health] = await Promise.all([answers, askHealth(`${origin}/health`, seconds)])
      return { ...figures, healthMs: health.latencyMs, failures: figures.failures + health.failures }
    },
  )
}

/**
 * Starts the server, loads it by `fireAt` twice, first as a warm-up, and stops it. `fireAt` gets the origin of the server, the seconds,
 * and whether this is the warm-up. Returns the result of the second load, with the figures of the server.
 */
export async function measureServer({ moduleUrl, settings, env }, durationSeconds, fireAt) {
  const child = new Child(moduleUrl, settings, env)
  try {
    const { port } = await child.next('listening')
    const origin = `http://127.0.0.1:${port}`
    await fireAt(origin, durationSeconds * warmUpShare, true)
    await child.ask('measure', 'measuring')
    const figures = await fireAt(origin, durationSeconds, false)
    const { kind: _, ...own } = await child.ask('report', 'measured')
    return { ...figures, ...own }
  } finally {
    await child.end()
  }
}

/** `{ perSecond, latencyMs, failures }` of one load on one address. `more` holds further options of autocannon. */
export async function fire(url, { connections, durationSeconds, countsArrivals = false, more = {} }) {
  const latencies = new Latencies()
  let answers = 0
  const run = autocannon({
    url,
    connections,
    duration: durationSeconds,
    timeout: timeoutSeconds,
    sampleInt,
    ...more,
  })
  run.on('response', (_client, statusCode, _bytes, latencyMs) => {
    if (statusCode !== 200) return
    answers++
    if (countsArrivals) latencies.recordArrivals(latencyMs)
    else latencies.record(latencyMs)
  })
  const { duration, errors, non2xx } = await run
  return { perSecond: answers / duration, latencyMs: latencies.figures(), failures: errors + non2xx }
}
