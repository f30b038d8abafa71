// The same stream as a program writes it by hand: a worker thread that posts a chunk for each acknowledgement.
import { parentPort } from 'node:worker_threads'

let left = 0
let number = 0
let size = 0

function send() {
  parentPort.postMessage(left-- > 0 ? new Uint8Array(size).fill(number++, 0, 1) : null)
}

parentPort.on('message', message => {
  if (message !== 'ack') {
    left = message.count
    size = message.bytes
    number = 0
  }
  send()
})
