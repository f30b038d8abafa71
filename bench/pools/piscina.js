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
    run: (payload, signal, name) =>
      signal === undefined && name === undefined ? pool.run(payload) : pool.run(payload, { signal, name }),
    stop: () => pool.destroy(),
    cancelAll: () => pool.destroy(),
  }
}
