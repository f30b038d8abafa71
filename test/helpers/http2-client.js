// An HTTP/2 client on a real socket without encryption. A test can cancel its streams at any time.
import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import { text } from 'node:stream/consumers'

/** Opens a session that is destroyed when the test ends. */
export function http2To(t, port) {
  const session = connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  t.after(() => session.destroy())
  return session
}

/** Sends the headers. The caller writes the body, unless `endStream` is true. */
export function openStream(session, { method = 'POST', path = '/', headers = {}, endStream = false } = {}) {
  const all = { ':method': method, ':path': path, 'content-type': 'application/json', ...headers }
  const stream = session.request(all, { endStream })
  stream.on('error', () => {})
  return stream
}

/** Cancels a stream as a browser does. Without this code Node would end the body first, as if the body were complete. */
export function breakOff(stream) {
  stream.close(constants.NGHTTP2_CANCEL)
}

/** Resolves to `{ status, headers, body }`. */
export async function answerOf(stream) {
  const [[headers], body] = await Promise.all([once(stream, 'response'), text(stream)])
  return { status: headers[':status'], headers, body }
}

/** Sends a body without a content-length, unless the headers hold one. */
export async function sendOver(session, body, headers) {
  const stream = openStream(session, { headers })
  stream.end(body)
  return await answerOf(stream)
}
