// No pool: one worker behind a MessageChannel. A port keeps order, so answers settle callers first in, first out.
import { MessageChannel, Worker } from 'node:worker_threads'

export const packageName = null

export function start({ workers }) {
  if (workers !== 1) throw new RangeError('bare postMessage has one worker and no way to share tasks')
  const { port1: port, port2: workerPort } = new MessageChannel()
  const worker = new Worker(new URL('../handlers/post-message.js', import.meta.url), {
    workerData: { port: workerPort },
    transferList: [workerPort],
  })
  const waiting = []
  port.on('message', result => waiting.shift()(result))
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
