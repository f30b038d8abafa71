// Keeps the load of the example: a steady stream of small requests, and so many large bodies a second beside it.
import autocannon from 'autocannon'
import { Latencies } from '../shared/latencies.js'

const largeConnections = 4
const sampleInt = 50 // ms between two looks at the clock
const timeoutSeconds = 60

/** A list of orders as JSON, of at least so many bytes. */
export function makeOrders(bytes) {
  const orders = []
  const one = JSON.stringify(makeOrder(1_000_000)).length + 1
  for (let id = 0; id * one < bytes; id++) orders.push(makeOrder(1_000_000 + id))
  return Buffer.from(JSON.stringify(orders))
}

function makeOrder(id) {
  return {
    id,
    customer: { name: `Customer ${id % 1000}`, city: ['Oslo', 'Lima', 'Bern'][id % 3], isNew: id % 7 === 0 },
    items: [
      { sku: `A-${id % 300}`, count: 1 + (id % 4), price: 19.95 },
      { sku: `B-${id % 200}`, count: 2, price: 4.5 },
    ],
    note: 'Leave it at the door, please.',
  }
}

/** Resolves to the figures of the small requests, and `large`: those of the large ones. */
export async function fireBodies({ url, orders, perSecond, connections, durationSeconds }) {
  const [small, large] = await Promise.all([
    fire({ url: `${url}small`, connections, durationSeconds, ofArrivals: true }),
    fire({
      url: `${url}orders`,
      connections: largeConnections,
      durationSeconds,
      more: {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: orders,
        overallRate: perSecond,
      },
    }),
  ])
  return { ...small, large, failures: small.failures + large.failures }
}

async function fire({ url, connections, durationSeconds, ofArrivals = false, more = {} }) {
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
    if (ofArrivals) latencies.recordArrivals(latencyMs)
    else latencies.record(latencyMs)
  })
  const { duration, errors, non2xx } = await run
  return {
    perSecond: answers / duration,
    latencyMs: latencies.figures(),
    failures: errors + non2xx,
  }
}
