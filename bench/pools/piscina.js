// Starts piscina with the settings of the roster.
import { Piscina } from 'piscina'

export function start({ handlerName, workers, settings }) {
  const pool = new Piscina({
    filename: new URL(`../handlers/${handlerName}.js`, import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    ...settings,
  })
  return {
    run: (payload, signal) => (signal === undefined ? pool.run(payload) : pool.run(payload, { signal })),
    stop: () => pool.destroy(),
    cancelAll: () => pool.destroy(),
  }
}
