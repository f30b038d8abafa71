// Starts piscina with its defaults, and maps with p-map.
import { pMapIterable } from 'p-map'
import { start as startPiscina } from './piscina.js'

const concurrency = 64

export function start(options) {
  const pool = startPiscina(options)
  return { ...pool, map: source => pMapIterable(source, payload => pool.run(payload), { concurrency }) }
}
