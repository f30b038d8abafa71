// Starts lido. If an older build does not know a setting, the pool is "not available" instead of failed.
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
    run: (payload, signal, name) =>
      signal === undefined && name === undefined ? pool.run(payload) : pool.run(payload, { signal, name }),
    map: source => pool.map(source),
    stream: payload => pool.stream(payload),
    share: value => pool.share(value),
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
