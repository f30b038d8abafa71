// A TCP proxy between a program and a server, for faults of the network.
import { connect, createServer } from 'node:net'

/** Resolves to `{ port, forget, hold, release, drop, close }`. */
export async function startProxy(targetPort) {
  const pairs = new Set()
  let isHolding = false
  const server = createServer(inner => {
    const outer = connect(targetPort, '127.0.0.1')
    const pair = { inner, outer, isForgotten: false }
    pairs.add(pair)
    const ends = [
      [inner, outer],
      [outer, inner],
    ]
    for (const [from, to] of ends) {
      from.on('data', bytes => {
        if (!pair.isForgotten) to.write(bytes)
      })
      from.on('error', () => {})
      from.on('close', () => {
        if (pair.isForgotten) return
        pairs.delete(pair)
        to.destroy()
      })
      if (isHolding) from.pause()
    }
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const destroyAll = () => {
    for (const { inner, outer } of pairs) {
      inner.destroy()
      outer.destroy()
    }
    pairs.clear()
  }
  return {
    port: server.address().port,
    /** Open connections carry no byte again, and nobody is told, as when a NAT forgot them. New ones work. */
    forget() {
      for (const pair of pairs) pair.isForgotten = true
    },
    /** No byte passes until `release()`, also on new connections. None is lost. */
    hold() {
      isHolding = true
      for (const { inner, outer } of pairs) {
        inner.pause()
        outer.pause()
      }
    },
    release() {
      isHolding = false
      for (const { inner, outer } of pairs) {
        inner.resume()
        outer.resume()
      }
    },
    /** Resets the open connections. */
    drop: destroyAll,
    async close() {
      destroyAll()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
