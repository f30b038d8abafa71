// piscina, its workers taking as many tasks at once as the heaviest cell keeps in flight.
import { start as startPiscina } from './piscina.js'

export const packageName = 'piscina'

export function start({ workers }) {
  return startPiscina({ workers, concurrentTasksPerWorker: 64 })
}
