// tinypool, with the settings that the roster gives.
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
    // Its destroy() takes time by the square of the tasks that wait; this is how it wants them cancelled.
    cancelAll() {
      pool.cancelPendingTasks()
      return pool.destroy()
    },
  }
}
