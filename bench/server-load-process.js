// The load on the server of P13: autocannon, in a process of its own so that it takes nothing from the server's event loop.
// Latencies are taken from each answer, because autocannon's own histogram keeps whole milliseconds only.
import { once } from 'node:events'
import { createHistogram } from 'node:perf_hooks'
import autocannon from 'autocannon'

const timeoutSeconds = 30
const sampleInt = 50 // ms between two looks at the clock

const [{ url, connections, durationSeconds }] = await once(process, 'message')
process.on('disconnect', () => process.exit())

const micros = createHistogram()
const run = autocannon({ url, connections, duration: durationSeconds, timeout: timeoutSeconds, sampleInt })
run.on('response', (_client, statusCode, _bytes, latencyMs) => {
  if (statusCode === 200) micros.record(Math.max(1, Math.round(latencyMs * 1000)))
})
const { duration, errors, non2xx } = await run
process.send({
  requestsPerSecond: micros.count / duration,
  latencyMsP50: micros.percentile(50) / 1000,
  latencyMsP99: micros.percentile(99) / 1000,
  failures: errors + non2xx,
})
