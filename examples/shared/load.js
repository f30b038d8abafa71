// Keeps the load on an HTTP server that runs in a child process: autocannon here, the server and the measure of its
// event loop there. Latencies are taken from each answer, because autocannon's own histogram keeps whole ms only.
import autocannon from 'autocannon'
import { Child } from './child.js'
import { Latencies } from './latencies.js'

// The load before the measured one: workers have more code to warm than one thread, so it is a matter of time and
// not of requests. Few connections, because what it leaves in a queue is worked on later.
const warmUpConnections = 10
const warmUpShare = 0.25

// autocannon looks every `sampleInt` ms whether it is done; its own second would lengthen every run.
const sampleInt = 50

// `load`: { connections, durationSeconds, timeoutSeconds? }
export async function loadServer(moduleUrl, settings, load, env) {
  const child = new Child(moduleUrl, settings, env)
  try {
    const { port } = await child.next('listening')
    const url = `http://127.0.0.1:${port}/`
    await fire(url, {
      connections: Math.min(load.connections, warmUpConnections),
      durationSeconds: load.durationSeconds * warmUpShare,
    })
    await child.ask('measure', 'measuring')
    const figures = await fire(url, load)
    const { loopDelayMs, atWorkPercent } = await child.ask('report', 'measured')
    return { ...figures, loopDelayMs, atWorkPercent }
  } finally {
    await child.end()
  }
}

/** `{ perSecond, latencyMs, failures }` of one load on one address. */
export async function fire(url, { connections, durationSeconds, timeoutSeconds = 60 }) {
  const latencies = new Latencies()
  let answers = 0
  const run = autocannon({ url, connections, duration: durationSeconds, timeout: timeoutSeconds, sampleInt })
  run.on('response', (_client, statusCode, _bytes, latencyMs) => {
    if (statusCode !== 200) return
    answers++
    latencies.record(latencyMs)
  })
  const { duration, errors, non2xx } = await run
  return { perSecond: answers / duration, latencyMs: latencies.figures(), failures: errors + non2xx }
}
