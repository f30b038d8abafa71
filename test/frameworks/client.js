// An HTTP client on a real socket that can disconnect at any time.
import { once } from 'node:events'
import { connect } from 'node:net'

export class Client {
  #socket
  #text = ''

  constructor(socket) {
    this.#socket = socket
    socket.setEncoding('utf8')
    socket.on('data', text => {
      this.#text += text
    })
    socket.on('error', () => {})
  }

  static async to(port, address = '127.0.0.1') {
    const socket = connect(port, address)
    await once(socket, 'connect')
    return new Client(socket)
  }

  /** The requests of one call are pipelined. */
  get(...paths) {
    this.#socket.write(paths.map(path => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''))
  }

  /** Announces a body of `length` bytes and sends the given part of it. */
  post(path, body, length = body.length) {
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`,
    )
  }

  /** Sends more bytes of a body. */
  send(text) {
    this.#socket.write(text)
  }

  leave() {
    this.#socket.destroy()
  }

  /** Resolves to the received text when it holds these words. */
  async received(words) {
    while (!this.#text.includes(words)) await once(this.#socket, 'data')
    return this.#text
  }
}

/** Resolves when the condition holds. Checks it in each turn of the event loop. */
export async function until(condition) {
  while (!condition()) await new Promise(resolve => setImmediate(resolve))
}
