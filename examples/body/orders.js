// The work on a parsed body. lido gets the URL of this module, which runs on the host and in workers.

/** The part of the body that the route needs. */
export function summarize(orders) {
  let total = 0
  for (const { items } of orders) for (const { count, price } of items) total += count * price
  return { orders: orders.length, total: Math.round(total * 100) / 100 }
}

/** The handler of the hand-written ways, which pass the bytes. */
export default function parse(bytes) {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
}
