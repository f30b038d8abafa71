// lido with planted leaks: memory and a port for each task, a listener and a timer for each pool, and the threads of a pool
// after `destroy()`.
import { MessageChannel } from 'node:worker_threads'
import { open as openLido } from './lido.js'

export { features } from './lido.js'

const kept = []

export function open(options) {
  const pool = openLido(options)
  process.on('beforeExit', () => pool)
  kept.push(setInterval(() => {}, 60_000))
  return {
    ...pool,
    run(name, payload, runOptions) {
      const { port1 } = new MessageChannel()
      if (kept.length < 200) kept.push(port1.on('message', () => {}))
      else port1.close()
      kept.push(
        new Array(16).fill(name),
        payload instanceof ArrayBuffer ? new Uint8Array(payload.slice(0)) : null,
      )
      return pool.run(name, payload, runOptions)
    },
    destroy: async () => {},
  }
}
