// Starts poolifier's pool of fixed size with the settings of the roster.
import { fileURLToPath } from 'node:url'
import { FixedThreadPool } from 'poolifier'

export function start({ handlerName, workers, settings }) {
  const pool = new FixedThreadPool(
    workers,
    fileURLToPath(new URL(`../handlers/poolifier/${handlerName}.js`, import.meta.url)),
    { ...settings },
  )
  return {
    run: payload => pool.execute(payload),
    stop: () => pool.destroy(),
    cancelAll: () => pool.destroy(),
  }
}
