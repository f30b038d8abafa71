// Who may play, and with which settings. `role`: 'ours' is judged, a 'variant' is ours with something off, a 'peer' is a
// published pool, a 'yardstick' no pool.
// `plays` says in which trials. Candidates are settings that were tried to find each peer's best ones; they play when
// `--pools` names them.
const noServer = ['echo', 'blocked-host', 'all-cores', 'idle', 'first-result', 'memory', 'flood', 'cancel']
const everything = [...noServer, 'server', 'large-result']
// Servers of examples/, each with the settings that it has there: variants and tuned ones have no part in them.
const examples = ['body', 'framework']

const lido = { adapter: 'lido', packageName: 'lido', plays: everything }
const piscina = { adapter: 'piscina', packageName: 'piscina', plays: everything, role: 'peer' }
const tinypool = {
  adapter: 'tinypool',
  packageName: 'tinypool',
  plays: [...noServer, 'large-result'],
  role: 'peer',
}
// These two take no signal.
const withoutSignals = noServer.filter(trial => trial !== 'cancel')
const workerpool = { adapter: 'workerpool', packageName: 'workerpool', plays: withoutSignals, role: 'peer' }
const poolifier = { adapter: 'poolifier', packageName: 'poolifier', plays: withoutSignals, role: 'peer' }

const bare = { packageName: null, role: 'yardstick', settings: {} }

export const roster = {
  lido: { ...lido, plays: [...everything, ...examples], role: 'ours', settings: {} },
  'lido-without-lane': { ...lido, role: 'variant', settings: { transport: 'messages' } },
  'lido-without-spin': { ...lido, role: 'variant', settings: { busyWait: false } },

  piscina: { ...piscina, plays: [...everything, ...examples], settings: {} },
  'piscina-tuned': { ...piscina, settings: { concurrentTasksPerWorker: 64, recordTiming: false } },
  'piscina-async': {
    ...piscina,
    settings: { concurrentTasksPerWorker: 64, recordTiming: false, atomics: 'async' },
  },
  tinypool: { ...tinypool, settings: {} },
  'tinypool-tuned': { ...tinypool, settings: { concurrentTasksPerWorker: 64 } },
  workerpool: { ...workerpool, settings: {} },
  poolifier: { ...poolifier, settings: {} },
  'poolifier-tuned': { ...poolifier, settings: { enableEvents: false } },

  'post-message': { ...bare, plays: ['echo', 'first-result'], adapter: 'post-message' },
  unpooled: { ...bare, plays: ['server', ...examples], adapter: 'unpooled' },
  'worker-per-request': { ...bare, plays: examples, adapter: null },

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

export function isPeer(poolName) {
  return roster[poolName].role === 'peer'
}

/** Those of `poolNames` that can play in a trial. */
export function thatPlay(poolNames, trial) {
  return poolNames.filter(name => roster[name].plays.includes(trial))
}
