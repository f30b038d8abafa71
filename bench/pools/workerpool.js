// Starts workerpool on threads, otherwise with its default settings.
import { fileURLToPath } from 'node:url'
import workerpool from 'workerpool'

export function start({ handlerName, workers, settings }) {
  const pool = workerpool.pool(
    fileURLToPath(new URL(`../handlers/workerpool/${handlerName}.js`, import.meta.url)),
    { minWorkers: workers, maxWorkers: workers, workerType: 'thread', ...settings },
  )
  return {
    run: payload => pool.exec(handlerName, [payload]),
    stop: () => pool.terminate(),
    cancelAll: () => pool.terminate(true),
  }
}
