// Asks the host through a port of the task and blocks the thread until the answer arrives, like workers of compilers.
const { receiveMessageOnPort } = require('node:worker_threads')

module.exports = ({ port, signal }) => {
  port.postMessage('question')
  Atomics.wait(signal, 0, 0)
  const { message } = receiveMessageOnPort(port)
  port.close()
  return message
}
