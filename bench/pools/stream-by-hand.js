// A worker thread with an acknowledgement for each chunk, without a pool.
import { Worker } from 'node:worker_threads'

export function start() {
  const worker = new Worker(new URL('../handlers/chunks-by-hand.js', import.meta.url))
  return {
    async *stream(order) {
      const chunks = []
      let onChunk = () => {}
      const listen = chunk => {
        chunks.push(chunk)
        onChunk()
      }
      worker.on('message', listen)
      worker.postMessage(order)
      for (;;) {
        if (chunks.length === 0)
          await new Promise(resolve => {
            onChunk = resolve
          })
        const chunk = chunks.shift()
        if (chunk === null) break
        worker.postMessage('ack')
        yield chunk
      }
      worker.off('message', listen)
    },
    stop: () => worker.terminate(),
  }
}
