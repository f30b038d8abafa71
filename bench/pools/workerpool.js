// workerpool on threads, otherwise with its default settings.
import { fileURLToPath } from 'node:url'
import workerpool from 'workerpool'

export const packageName = 'workerpool'

export function start({ workers }) {
  const pool = workerpool.pool(fileURLToPath(new URL('../handlers/workerpool.js', import.meta.url)), {
    minWorkers: workers,
    maxWorkers: workers,
    workerType: 'thread',
  })
  return { run: payload => pool.exec('echo', [payload]), stop: () => pool.terminate() }
}
