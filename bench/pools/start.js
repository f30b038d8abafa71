// Starts pools that have the interface of a peer: the peer itself, and the entry point of lido with the same interface.
import { fileURLToPath } from 'node:url'

const handlerUrl = path => new URL(`../handlers/${path}.js`, import.meta.url)

export function startPiscina(Piscina, { handlerName, workers, settings }) {
  const filename = handlerUrl(handlerName).href
  const pool = new Piscina({ filename, minThreads: workers, maxThreads: workers, ...settings })
  return {
    run: (payload, signal, name) =>
      signal === undefined && name === undefined ? pool.run(payload) : pool.run(payload, { signal, name }),
    stop: () => pool.destroy(),
    cancelAll: () => pool.destroy(),
  }
}

export function startTinypool(Tinypool, { handlerName, workers, settings }) {
  const filename = handlerUrl(handlerName).href
  const pool = new Tinypool({ filename, minThreads: workers, maxThreads: workers, ...settings })
  return {
    run: (payload, signal) => (signal === undefined ? pool.run(payload) : pool.run(payload, { signal })),
    stop: () => pool.destroy(),
    // destroy() alone takes quadratic time in the number of queued tasks. tinypool offers this method to cancel them.
    cancelAll() {
      pool.cancelPendingTasks()
      return pool.destroy()
    },
  }
}

/** @param folder of the handlers, which import the package that runs them */
export function startWorkerpool(workerpool, folder, { handlerName, workers, settings }) {
  const pool = workerpool.pool(fileURLToPath(handlerUrl(`${folder}/${handlerName}`)), {
    minWorkers: workers,
    maxWorkers: workers,
    workerType: 'thread',
    ...settings,
  })
  return {
    run: payload => pool.exec(handlerName, [payload]),
    stop: () => pool.terminate(),
    cancelAll: () => pool.terminate(true),
  }
}
