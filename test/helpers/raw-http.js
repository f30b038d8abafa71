// Plain HTTP over real sockets. A test can send requests that no client library sends, and can stop at any byte.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

/** Starts a `node:http` server on a free port. The server and its connections close when the test ends. */
export async function listen(t, server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  return server.address().port
}

/** Returns the bytes of a request. `body` gets a Content-Length unless the headers define its length. */
export function requestBytes({ method = 'POST', path = '/', headers = {}, body = null }) {
  const all = { host: 'localhost', connection: 'close', ...headers }
  const isSized = Object.keys(all).some(name => /^(content-length|transfer-encoding)$/i.test(name))
  const bytes = Buffer.from(body ?? '')
  if (body !== null && !isSized) all['content-length'] = bytes.length
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), bytes])
}

export function chunk(data) {
  const bytes = Buffer.from(data)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

export const lastChunk = Buffer.from('0\r\n\r\n')

export async function open(port) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Sends a request on a new connection. Resolves to `{ status, headers, body }`. */
export async function send(port, request) {
  const socket = await open(port)
  const answer = text(socket)
  socket.write(requestBytes(request))
  return parseAnswer(await answer)
}

function parseAnswer(answer) {
  const end = answer.indexOf('\r\n\r\n')
  const [first, ...lines] = answer.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(lines.map(line => line.split(/: ?(.*)/s).slice(0, 2)))
  const lowered = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  let body = answer.slice(end + 4)
  if (lowered['transfer-encoding'] === 'chunked') body = body.replace(/[0-9a-f]+\r\n|\r\n/g, '')
  return { status: Number(first.split(' ')[1]), headers: lowered, body }
}
