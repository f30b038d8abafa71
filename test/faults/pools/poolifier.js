// poolifier: a fixed pool when `min` equals `max`, otherwise a dynamic pool. Its task queue is on, so that a worker gets no more
// tasks than it has slots.
import { DynamicClusterPool, DynamicThreadPool, FixedClusterPool, FixedThreadPool } from 'poolifier'
import { Unsupported } from '../harness/verdicts.js'
import { handlerPath } from './handler-path.js'

export const packageName = 'poolifier'
export const settings = { enableTasksQueue: true, restartWorkerOnError: true }
export const features = [
  'signal',
  'transfer',
  'slots',
  'idleTimeout',
  'resourceLimits',
  'execArgv',
  'processes',
]

const kinds = {
  thread: { Fixed: FixedThreadPool, Dynamic: DynamicThreadPool },
  process: { Fixed: FixedClusterPool, Dynamic: DynamicClusterPool },
}

export function open(options) {
  const { backend, file = 'tasks.js', workers, min = workers, max = workers, slots = 1 } = options
  if (!Object.hasOwn(kinds, backend)) throw new Unsupported(`it has no ${backend} workers`)
  if (options.maxQueue !== undefined) throw new Unsupported('its queue has no limit')
  if (options.idleTimeoutMs !== undefined) process.env.FAULT_IDLE_MS = String(options.idleTimeoutMs)
  const { resourceLimits, execArgv, env } = options
  const asked = Object.entries({ resourceLimits, execArgv, env }).filter(([, value]) => value !== undefined)
  const poolOptions = {
    ...settings,
    tasksQueueOptions: { concurrency: slots },
    errorHandler: () => {},
    ...(asked.length === 0 ? {} : { workerOptions: Object.fromEntries(asked) }),
  }
  const path = handlerPath(file, 'poolifier')
  const { Fixed, Dynamic } = kinds[backend]
  const pool = min === max ? new Fixed(max, path, poolOptions) : new Dynamic(min, max, path, poolOptions)
  pool.emitter?.on('error', () => {})
  return {
    run(name, payload, { signal, transferList, filename } = {}) {
      if (filename !== undefined) throw new Unsupported('it has one file')
      return pool.execute(payload, name, signal, transferList)
    },
    destroy: () => pool.destroy(),
    wrongCalls: () => [
      () => pool.execute(1, 5),
      () => pool.execute(1, 'echo', 5),
      () => pool.execute(1, 'echo', undefined, 5),
    ],
  }
}
