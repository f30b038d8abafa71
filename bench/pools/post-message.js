// No pool: one worker behind a MessageChannel. A port keeps order, so answers settle callers first in, first out.
import { MessageChannel, Worker } from 'node:worker_threads'

export function start({ handlerName, workers }) {
  if (workers !== 1) throw new RangeError('bare postMessage has one worker and no way to share tasks')
  if (handlerName !== 'echo') throw new RangeError('bare postMessage has no handler but the echo')
  const { port1: port, port2: workerPort } = new MessageChannel()
  const worker = new Worker(new URL('../handlers/post-message.js', import.meta.url), {
    workerData: { port: workerPort },
    transferList: [workerPort],
  })
  // A head that moves, because shift() of a long array copies it.
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
