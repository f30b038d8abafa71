// A client on a real socket that can leave at any moment.
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

  /** Requests of one call are pipelined. */
  get(...paths) {
    this.#socket.write(paths.map(path => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''))
  }

  /** Announces a body and sends the part of it that is given. */
  post(path, body, length = body.length) {
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`,
    )
  }

  /** What was left out of a body. */
  send(text) {
    this.#socket.write(text)
  }

  leave() {
    this.#socket.destroy()
  }

  /** Resolves to what was received, once it has these words. */
  async received(words) {
    while (!this.#text.includes(words)) await once(this.#socket, 'data')
    return this.#text
  }
}

/** Resolves when the condition holds; asked again with each turn of the event loop. */
export async function until(condition) {
  while (!condition()) await new Promise(resolve => setImmediate(resolve))
}
