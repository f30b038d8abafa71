// Starts pools by their interface: builds of lido; and the peers, with the entry points of lido that have the same interface.
import { fileURLToPath } from 'node:url'
import { UnavailableError } from '../unavailable.js'
import { OwnQueue } from './own-queue.js'

const handlerUrl = path => new URL(`../handlers/${path}.js`, import.meta.url)

/** The setting `calls` is a name in this list: the options of the call with this number. */
const callOptions = {
  groups: i => ({ group: `g${i % 10}` }),
  keys: i => ({ key: `k${i % 1000}` }),
  'sticky-keys': i => ({ key: `k${i % 1000}`, keyOrder: 'none' }),
}
const queues = { priority: ({ PriorityQueue }) => new PriorityQueue(), own: () => new OwnQueue() }

/** The setting `queue` is a name in `queues`. */
export function startLido(lido, { handlerName, workers, settings: { queue, calls, ...settings } }) {
  const pool = openLido(lido, {
    filename: handlerUrl(handlerName),
    minWorkers: workers,
    maxWorkers: workers,
    ...(queue !== undefined && { queue: queues[queue](lido) }),
    ...settings,
  })
  return {
    run: calls === undefined ? createRun(pool) : createRunWith(pool, callOptions[calls]),
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

/** If an older build does not know a setting, the pool is "not available" instead of failed. */
function openLido({ Pool }, options) {
  try {
    return new Pool(options)
  } catch (error) {
    if (error.code !== 'ERR_LIDO_INVALID_OPTION') throw error
    throw new UnavailableError(`this build has no option '${error.option}'`, { cause: error })
  }
}

function createRun(pool) {
  return (payload, signal, name, transferList) =>
    signal === undefined && name === undefined && transferList === undefined
      ? pool.run(payload)
      : pool.run(payload, { signal, name, transferList })
}

function createRunWith(pool, optionsOf) {
  let count = 0
  return payload => {
    count += 1
    return pool.run(payload, optionsOf(count))
  }
}

export function startPiscina(Piscina, { handlerName, workers, settings }) {
  const filename = handlerUrl(handlerName).href
  const pool = new Piscina({ filename, minThreads: workers, maxThreads: workers, ...settings })
  return {
    run: createRun(pool),
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
