// Asks the host over a port of its own and blocks the thread until the answer is there, as compilers' workers do.
const { receiveMessageOnPort } = require('node:worker_threads')

module.exports = ({ port, signal }) => {
  port.postMessage('question')
  Atomics.wait(signal, 0, 0)
  const { message } = receiveMessageOnPort(port)
  port.close()
  return message
}
