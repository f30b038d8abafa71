// Starts tinypool with the settings of the roster.
import { Tinypool } from 'tinypool'

export function start({ handlerName, workers, settings }) {
  const pool = new Tinypool({
    filename: new URL(`../handlers/${handlerName}.js`, import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    ...settings,
  })
  return {
    run: (payload, signal) => (signal === undefined ? pool.run(payload) : pool.run(payload, { signal })),
    stop: () => pool.destroy(),
    // destroy() alone takes quadratic time in the number of queued tasks. tinypool offers this method to cancel them.
    cancelAll() {
      pool.cancelPendingTasks()
      return pool.destroy()
    },
  }
}
