// A client of HTTP/2 on a real socket, without encryption. Its streams can be broken off at any moment.
import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import { text } from 'node:stream/consumers'

/** One session; it is gone when the test ends. */
export function http2To(t, port) {
  const session = connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  t.after(() => session.destroy())
  return session
}

/** Sends the headers; a body follows unless there is none. */
export function openStream(session, { method = 'POST', path = '/', headers = {}, endStream = false } = {}) {
  const all = { ':method': method, ':path': path, 'content-type': 'application/json', ...headers }
  const stream = session.request(all, { endStream })
  stream.on('error', () => {})
  return stream
}

/** As a browser does when its page is left. Without the code the body would be ended first, as if it were whole. */
export function breakOff(stream) {
  stream.close(constants.NGHTTP2_CANCEL)
}

/** Resolves to `{ status, headers, body }`. */
export async function answerOf(stream) {
  const [[headers], body] = await Promise.all([once(stream, 'response'), text(stream)])
  return { status: headers[':status'], headers, body }
}

/** Sends a body that does not say how long it is, unless the headers do. */
export async function sendOver(session, body, headers) {
  const stream = openStream(session, { headers })
  stream.end(body)
  return await answerOf(stream)
}
