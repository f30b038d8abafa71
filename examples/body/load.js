// The load of the example: a steady stream of small requests, and some large bodies per second.
import { fire, measureServer } from '../shared/load.js'

const largeConnections = 4

/** A list of orders as JSON, with at least this number of bytes. */
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

/** Figures of the small requests and of the server's event loop. `large` has the figures of the large bodies. */
export async function loadBodies(way, maxWorkers, { orders, perSecond, connections, durationSeconds }) {
  const server = {
    moduleUrl: new URL('./app.js', import.meta.url),
    settings: { way, maxWorkers },
    env: { NODE_ENV: 'production' },
  }
  return await measureServer(server, durationSeconds, async (origin, seconds) => {
    const [small, large] = await Promise.all([
      fire(`${origin}/small`, { connections, durationSeconds: seconds, countsArrivals: true }),
      fire(`${origin}/orders`, {
        connections: largeConnections,
        durationSeconds: seconds,
        more: {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: orders,
          overallRate: perSecond,
        },
      }),
    ])
    return { ...small, large, failures: small.failures + large.failures }
  })
}
