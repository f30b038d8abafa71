// Opens a pool whose options are Piscina's. The pool calls the exports of a file by name.
import { handlerPath } from './handler-path.js'

export const piscinaStyleFeatures = [
  'signal',
  'transfer',
  'slots',
  'maxQueue',
  'idleTimeout',
  'files',
  'resourceLimits',
  'execArgv',
]

export function createPiscinaStyle(options, settings, construct) {
  const { file = 'tasks.js', workers, min = workers, max = workers, slots, idleTimeoutMs, ...rest } = options
  const given = {
    filename: handlerPath(file, 'plain'),
    minThreads: min,
    maxThreads: max,
    concurrentTasksPerWorker: slots,
    idleTimeout: idleTimeoutMs,
    maxQueue: rest.maxQueue,
    resourceLimits: rest.resourceLimits,
    execArgv: rest.execArgv,
    env: rest.env,
    ...settings,
  }
  const isGiven = ([, value]) => value !== undefined
  const pool = construct(Object.fromEntries(Object.entries(given).filter(isGiven)))
  return {
    pool,
    run: (name, payload, runOptions) => pool.run(payload, { name, ...runOptions }),
    destroy: () => pool.destroy(),
    wrongCalls: () =>
      ['name', 'filename', 'signal', 'transferList'].map(
        option => () => pool.run(1, { name: 'echo', [option]: 5 }),
      ),
  }
}
