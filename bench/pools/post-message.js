// One worker behind a MessageChannel, without a pool. A port keeps the order, so answers arrive in the order of calls.
import { MessageChannel, Worker } from 'node:worker_threads'

export function start({ handlerName, workers }) {
  if (workers !== 1) throw new RangeError(`bare postMessage runs one worker, not ${workers}`)
  if (handlerName !== 'echo') {
    throw new RangeError(`bare postMessage has only the handler 'echo', not '${handlerName}'`)
  }
  const { port1: port, port2: workerPort } = new MessageChannel()
  const worker = new Worker(new URL('../handlers/post-message.js', import.meta.url), {
    workerData: { port: workerPort },
    transferList: [workerPort],
  })
  // An index instead of shift(), which copies a long array.
  let waiting = []
  let head = 0
  port.on('message', result => {
    waiting[head](result)
    head += 1
    if (head === waiting.length) {
      waiting = []
      head = 0
    }
  })
  return {
    run(payload) {
      return new Promise(resolve => {
        waiting.push(resolve)
        port.postMessage(payload)
      })
    },
    async stop() {
      port.close()
      await worker.terminate()
    },
  }
}
