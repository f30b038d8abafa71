// lido. A build that does not know a setting yet is no failure of the pool: it has nothing to play with.
import { Pool } from 'lido'
import { UnavailableError } from '../unavailable.js'

export function start({ handlerName, workers, settings }) {
  const pool = open({
    filename: new URL(`../handlers/${handlerName}.js`, import.meta.url),
    minWorkers: workers,
    maxWorkers: workers,
    ...settings,
  })
  return {
    run: (payload, signal) => (signal === undefined ? pool.run(payload) : pool.run(payload, { signal })),
    stop: () => pool.close(),
    cancelAll: () => pool.destroy(),
    get transport() {
      return pool.stats().transport
    },
  }
}

function open(options) {
  try {
    return new Pool(options)
  } catch (error) {
    if (error.code !== 'ERR_LIDO_INVALID_OPTION') throw error
    throw new UnavailableError(`this build has no option '${error.option}'`, { cause: error })
  }
}
