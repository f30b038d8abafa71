// A TCP proxy between a program and a server, which can forget its connections as a router does.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** Resolves to `{ port, forget(), hold(), close() }`. */
export async function startProxy(serverPort) {
  const pairs = new Set()
  let isHeld = false
  const server = createServer(client => {
    const upstream = connect(serverPort, '127.0.0.1')
    const pair = { sockets: [client, upstream], isForgotten: isHeld }
    pairs.add(pair)
    const join = (from, to) => {
      from.on('data', bytes => pair.isForgotten || to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => pair.isForgotten || to.destroy())
    }
    join(client, upstream)
    join(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    /** No byte passes on the connections of now, and neither side learns it. New connections work. */
    forget() {
      for (const pair of pairs) pair.isForgotten = true
    },
    /** As `forget()`, and new connections carry no byte either. */
    hold() {
      isHeld = true
      this.forget()
    },
    close() {
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
