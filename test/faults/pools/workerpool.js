// workerpool. Its promise has `cancel()`. `terminate()` closes the pool, and `terminate(true)` destroys it.
import workerpool from 'workerpool'
import { Unsupported } from '../harness/verdicts.js'
import { handlerPath } from './handler-path.js'

export const packageName = 'workerpool'
export const settings = { workerType: 'thread', minWorkers: 'as asked' }
export const features = ['cancel', 'transfer', 'maxQueue', 'close', 'resourceLimits', 'execArgv', 'processes']

const workerTypes = { thread: 'thread', process: 'process' }

export function open(options) {
  const { backend, file = 'tasks.js', workers, min = workers, max = workers, slots = 1, maxQueue } = options
  if (!Object.hasOwn(workerTypes, backend)) throw new Unsupported(`it has no ${backend} workers`)
  if (slots > 1) throw new Unsupported('a worker has one task at a time')
  if (options.idleTimeoutMs !== undefined) throw new Unsupported('idle workers stay')
  const { resourceLimits, execArgv, env } = options
  const pool = workerpool.pool(handlerPath(file, 'workerpool'), {
    minWorkers: min,
    maxWorkers: max,
    workerType: workerTypes[backend],
    ...(maxQueue === undefined ? {} : { maxQueueSize: maxQueue }),
    workerThreadOpts: withoutUndefined({ resourceLimits, execArgv, env }),
    ...(backend === 'process' ? { forkOpts: { serialization: 'advanced' } } : {}),
  })
  return {
    run(name, payload, { transferList, signal, filename } = {}) {
      if (signal !== undefined) throw new Unsupported('it has no signal')
      if (filename !== undefined) throw new Unsupported('it has one file')
      return pool.exec(name, [payload], transferList === undefined ? undefined : { transfer: transferList })
    },
    cancel: promise => promise.cancel(),
    close: () => pool.terminate(),
    destroy: () => pool.terminate(true),
    wrongCalls: () => [
      () => pool.exec(5, [1]),
      () => pool.exec('echo', 5),
      () => pool.exec('echo', [1], { transfer: 5 }),
    ],
  }
}

function withoutUndefined(options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
