// Loads a framework's server with a route that computes. Measures its rate, the latency of /health and the delay of the
// event loop. Servers and loads come from examples/. This process sends the load.
import { strictEqual } from 'node:assert/strict'
import { ways } from '../ways.js'

const examples = { fastify: loadFastify, nestjs: loadNest }

export async function takeTurn({ poolName }, { example, ...settings }) {
  const figures = await examples[example](ways[poolName], settings)
  const { perSecond, latencyMs, healthMs, loopDelayMs, failures } = figures
  strictEqual(failures, 0, `${failures} requests failed`)
  return {
    requestsPerSecond: perSecond,
    latencyMsP99: latencyMs.p99,
    healthMsP50: healthMs.p50,
    healthMsP99: healthMs.p99,
    loopDelayMsMax: loopDelayMs.max,
  }
}

async function loadFastify(way, settings) {
  const { loadHashing } = await import('../../examples/fastify/load.js')
  return await loadHashing(way, settings)
}

async function loadNest(way, { processes, ...load }) {
  const { bundle } = await import('../../examples/nestjs/build.js')
  const { loadService } = await import('../../examples/nestjs/load.js')
  return await loadService({ program: await bundle(), way, processes }, load)
}
