// Lists the pools of the benchmark with their settings.
//   role    'ours' is judged; 'variant' is lido with a feature off; 'peer' is a published pool; 'yardstick' is no pool
//   plays   the trials that the pool takes part in
// The candidates at the end were tried to find the best settings of each peer. They run only when `--pools` names them.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const noServer = ['echo', 'blocked-host', 'all-cores', 'idle', 'first-result', 'memory', 'flood', 'cancel']
const smallTasks = ['small-tasks', 'under-pressure']
const everything = [...noServer, ...smallTasks, 'server', 'large-result', 'flood-large']
// The servers of examples/ run with their own settings, so variants and tuned pools do not take part.
const examples = ['body', 'framework']

const lido = {
  adapter: 'lido',
  packageName: 'lido',
  plays: [...everything, 'map', 'small-items', 'stream', 'share', 'real-work'],
}
const piscina = {
  adapter: 'piscina',
  packageName: 'piscina',
  plays: [...everything, 'map', 'small-items'],
  role: 'peer',
}
const tinypool = {
  adapter: 'tinypool',
  packageName: 'tinypool',
  plays: [...noServer, ...smallTasks, 'large-result'],
  role: 'peer',
}
// workerpool and poolifier accept no AbortSignal.
const withoutSignals = noServer.filter(trial => trial !== 'cancel')
const workerpool = {
  adapter: 'workerpool',
  packageName: 'workerpool',
  plays: [...withoutSignals, ...smallTasks],
  role: 'peer',
}
const poolifier = { adapter: 'poolifier', packageName: 'poolifier', plays: withoutSignals, role: 'peer' }

/** lido with the interface of a peer. In the echo rows they run only when `--pools` names them. */
const adapterPool = { packageName: 'lido', plays: ['echo', ...smallTasks], role: 'variant', settings: {} }

/** The folder that `--against` names. The children of the benchmark get it with the environment. */
const folderBefore = process.env.LIDO_BENCH_AGAINST
const before = {
  ...lido,
  adapter: 'lido-before',
  packageName:
    folderBefore === undefined ? null : pathToFileURL(join(folderBefore, 'dist/esm/index.js')).href,
}

const bare = { packageName: null, role: 'yardstick', settings: {} }

export const roster = {
  lido: { ...lido, plays: [...lido.plays, ...examples], role: 'ours', settings: {} },
  'lido-without-lane': { ...lido, role: 'variant', settings: { transport: 'messages' } },
  'lido-without-spin': { ...lido, role: 'variant', settings: { busyWait: false } },
  'lido-before': { ...before, role: 'variant', settings: {} },
  'lido-priority': { ...lido, role: 'variant', settings: { queue: 'priority' } },
  'lido-own-queue': { ...lido, role: 'variant', settings: { queue: 'own' } },
  'lido-groups': { ...lido, role: 'variant', settings: { groups: {}, calls: 'groups' } },
  'lido-keys': { ...lido, role: 'variant', settings: { calls: 'keys' } },
  'lido-sticky-keys': { ...lido, role: 'variant', settings: { calls: 'sticky-keys' } },

  piscina: { ...piscina, plays: [...piscina.plays, 'real-work', ...examples], settings: {} },
  // Shows how far two runs of the same pool differ.
  'piscina-again': { ...piscina, role: 'yardstick', plays: ['real-work'], settings: {} },
  'piscina-tuned': { ...piscina, settings: { concurrentTasksPerWorker: 64, recordTiming: false } },
  'piscina-async': {
    ...piscina,
    settings: { concurrentTasksPerWorker: 64, recordTiming: false, atomics: 'async' },
  },
  'stream-by-hand': { ...bare, plays: ['stream'], adapter: 'stream-by-hand' },
  'p-map': { adapter: 'p-map', packageName: 'p-map', plays: ['map'], role: 'peer', settings: {} },
  tinypool: { ...tinypool, settings: {} },
  'tinypool-tuned': { ...tinypool, settings: { concurrentTasksPerWorker: 64 } },
  workerpool: { ...workerpool, settings: {} },
  poolifier: { ...poolifier, settings: {} },
  'poolifier-tuned': { ...poolifier, settings: { enableEvents: false } },

  'post-message': { ...bare, plays: ['echo', 'first-result'], adapter: 'post-message' },
  unpooled: { ...bare, plays: ['server', 'small-tasks', ...examples], adapter: 'unpooled' },
  'timers-alone': { ...bare, plays: ['small-tasks'], adapter: 'timers-alone' },
  'worker-per-request': { ...bare, plays: examples, adapter: null },

  'lido-piscina': { ...adapterPool, adapter: 'lido-piscina' },
  'lido-tinypool': { ...adapterPool, adapter: 'lido-tinypool' },
  'lido-workerpool': { ...adapterPool, adapter: 'lido-workerpool' },

  // Candidates.
  'piscina-64': { ...piscina, settings: { concurrentTasksPerWorker: 64 } },
  'piscina-1-async': { ...piscina, settings: { atomics: 'async' } },
  'piscina-64-port': {
    ...piscina,
    settings: { concurrentTasksPerWorker: 64, recordTiming: false, atomics: 'disabled' },
  },
  'tinypool-64-port': { ...tinypool, settings: { concurrentTasksPerWorker: 64, useAtomics: false } },
  'poolifier-queue': {
    ...poolifier,
    settings: { enableTasksQueue: true, tasksQueueOptions: { concurrency: 64 } },
  },
}

export const subjectName = 'lido'
export const bareName = 'post-message'
export const beforeName = 'lido-before'
export const adapterNames = ['lido-piscina', 'lido-tinypool', 'lido-workerpool']

export function isPeer(poolName) {
  return roster[poolName].role === 'peer'
}

/** The pools that take part in this trial. */
export function thatPlay(poolNames, trial) {
  return poolNames.filter(name => roster[name].plays.includes(trial))
}
