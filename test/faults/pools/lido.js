// lido with its default options. Only this pool has no listener for its `error` event, because it must not need one.
import { Pool } from 'lido'
import { Unsupported } from '../harness/verdicts.js'
import { createPiscinaStyle, piscinaStyleFeatures } from './piscina-style.js'

export const packageName = 'lido'
export const settings = {}
export const features = [...piscinaStyleFeatures, 'close', 'processes']

export function open({ backend, ...options }) {
  const adapted = createPiscinaStyle(options, settings, ({ minThreads, maxThreads, ...others }) => {
    try {
      return new Pool({ minWorkers: minThreads, maxWorkers: maxThreads, ...others, backend })
    } catch (error) {
      if (error.option !== 'backend') throw error
      throw new Unsupported(`this build has no backend '${backend}'`)
    }
  })
  return { ...adapted, close: () => adapted.pool.close() }
}
