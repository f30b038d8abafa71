// Keeps the load on an HTTP server that runs in a child process: autocannon here, the server and the measure of its
// event loop there. Latencies are taken from each answer, because autocannon's own histogram keeps whole ms only.
import autocannon from 'autocannon'
import { Child } from './child.js'
import { askHealth } from './health.js'
import { Latencies } from './latencies.js'

// The load before the measured one: workers have more code to warm than one thread, so it is a matter of time and
// not of requests. Few connections, because what it leaves in a queue is worked on later.
const warmUpConnections = 10
const warmUpShare = 0.25

// autocannon looks every `sampleInt` ms whether it is done; its own second would lengthen every run.
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
 * Starts the server, has `fireAt` load it to warm it up and then for the figures, and ends it. `fireAt` gets the server's origin,
 * for how many seconds, and whether it is the warm-up; what it gives for the other one comes back with the server's own figures.
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

/** `{ perSecond, latencyMs, failures }` of one load on one address; `more` goes to autocannon as it is. */
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
