// Lists the matches. A match is one trial under one set of conditions. Each cell has a sample for each pool and round.
//   poolNames   the pools that take part unless `--pools` names others
//   isLasting   true: a pool keeps its process for all cells of a round; false: each cell gets a new process
//   takes       processes for each pool, cell and round
//   warmUpMs    warm-up time of all cells together, so that the first measured turn runs compiled code
//   whyNot      the reason why the match cannot run on this machine, or null
import { largeValues } from './large-values.js'
import { payloads } from './payloads.js'
import { adapterNames } from './roster.js'

const manySettings = [
  'lido',
  'piscina',
  'piscina-tuned',
  'piscina-async',
  'tinypool',
  'tinypool-tuned',
  'workerpool',
  'poolifier-tuned',
  'post-message',
]
const oneSetting = ['lido', 'piscina', 'tinypool', 'workerpool', 'poolifier']
const tunedToo = ['lido', 'piscina', 'piscina-tuned', 'tinypool', 'workerpool', 'poolifier']
const onlyPiscina = ['lido', 'piscina']
const smallTaskPools = ['lido', 'lido-without-spin', ...adapterNames, 'piscina']
/** P22: the pools that order tasks by more than their arrival. */
export const orderedPools = [
  'lido-priority',
  'lido-own-queue',
  'lido-groups',
  'lido-keys',
  'lido-sticky-keys',
]
const queuePools = ['lido', 'lido-without-spin', ...orderedPools, 'piscina']
const waysOfExamples = ['lido', 'piscina', 'worker-per-request', 'unpooled']
const scalingCores = 16
const scalingWorkers = [1, 2, 4, 8, 15]

/** P19: how many processes run, how long a task takes, and how many tasks of a process are in flight. */
export const sharedSizes = [2, 3, 4].flatMap(processes =>
  [0.02, 0.1, 0.3].flatMap(taskMs => [1, 8].map(inFlight => ({ processes, taskMs, inFlight }))),
)
/** P20: the lengths of the tasks of one loop. */
export const loopTaskMs = [0.02, 0.05, 0.1, 0.3]
export const queueWorkers = [1, 2]

/** P12: payloads of 10 MB, except the strings of 1 MB. */
export const largeFloods = ['objects', 'same-objects', 'strings', 'moved']

const noTaskset = 'taskset is not installed'

export const realWork = ['levenshtein', 'markdown', 'thumbnail']

const fullTimes = {
  realWarmUpMs: 1000,
  realMs: 600,
  sharedWarmUpMs: 1000,
  sharedTurnWarmUpMs: 100,
  sharedMs: 400,
  sparseMs: 1500,
  queueMs: 500,
  pressureRequests: 100,
  processWarmUpMs: 6000,
  turnWarmUpMs: 200,
  turnMs: 300,
  blockMs: 200,
  coresWarmUpMs: 6000,
  coresMs: 1200,
  idleMs: 2000,
  calmMs: 400,
  floodTasks: 1_000_000,
  cancelTasks: 15_000,
  largeFloodTasks: 200,
  largeFloodBytes: 10_000_000,
  largeResults: 3,
  mapMs: 3000,
  mapItems: 10_000_000,
  shortItems: 1_000_000,
  longItems: 400,
  endlessMs: 10_000,
  streamChunks: 16_384,
  streamPauseMs: 500,
  tableEntries: 200_000,
  tableTasks: 10_000,
  serverSeconds: { 10: 1.2, 1000: 2.5 },
  bodySeconds: 6,
  bodyBytes: 10_000_000,
  framework: { costLog2: 13, points: 1_000_000, connections: 16, durationSeconds: 3 },
}
const quickTimes = {
  realWarmUpMs: 50,
  realMs: 50,
  sharedWarmUpMs: 200,
  sharedTurnWarmUpMs: 20,
  sharedMs: 60,
  sparseMs: 200,
  queueMs: 80,
  pressureRequests: 10,
  processWarmUpMs: 200,
  turnWarmUpMs: 30,
  turnMs: 80,
  blockMs: 100,
  coresWarmUpMs: 200,
  coresMs: 200,
  idleMs: 800,
  calmMs: 200,
  floodTasks: 100_000,
  cancelTasks: 4_000,
  largeFloodTasks: 20,
  largeFloodBytes: 1_000_000,
  largeResults: 1,
  mapMs: 300,
  mapItems: 300_000,
  shortItems: 50_000,
  longItems: 60,
  endlessMs: 500,
  streamChunks: 500,
  streamPauseMs: 100,
  tableEntries: 5_000,
  tableTasks: 1_000,
  serverSeconds: { 10: 0.4, 1000: 1 },
  bodySeconds: 1.5,
  bodyBytes: 2_000_000,
  framework: { costLog2: 10, points: 100_000, connections: 4, durationSeconds: 0.5 },
}

/** The worker counts of the scaling rows. With too few cores, the last count alone shows that they cannot run. */
export function scalingWorkersOn(cores) {
  return cores < scalingCores ? scalingWorkers.slice(-1) : scalingWorkers
}

/** `turnMs` overrides the measured time of a turn of P1 to P7 and P19 to P22, and `endlessMs` the time of the endless input. */
export function chooseTimes({ isQuick, turnMs = null, endlessMs = null }) {
  const chosen = isQuick ? quickTimes : fullTimes
  const turn = { turnMs, sharedMs: turnMs, sparseMs: turnMs, queueMs: turnMs }
  return { ...chosen, ...(turnMs !== null && turn), ...(endlessMs !== null && { endlessMs }) }
}

/** `machine` has `cores`, `pinnableCore`, `pinnablePair` and `memoryMebibytes`; `loops` is the number of rounds that takes 1 ms. */
export function createProgramme({ machine, loops, times, isScaling }) {
  const { cores } = machine
  const { calmMs } = times
  const oneByOne = Object.keys(payloads).map(id => [`${id}/one`, id])
  const echo = { poolNames: manySettings, payloadIds: Object.keys(payloads) }

  return [
    ...(cores > 1
      ? [createEchoMatch(times, { ...echo, oneByOne })]
      : [createEchoMatch(times, echo), createImpossible(oneByOne, 'one core: no core is free')]),
    createPinnedMatch(times, machine.pinnableCore),
    createEchoMatch(times, {
      poolNames: oneSetting,
      payloadIds: [],
      oneByOne: [['pair/full', 'pair']],
      workers: cores,
    }),
    createSingle('blocked-host', {
      settings: { loops, blockMs: times.blockMs },
      poolNames: tunedToo,
      whyNot: cores > 1 ? null : 'one core: a blocked host leaves no core for the worker',
    }),
    createWorkMatch('all-cores', times, { loops, workers: cores, poolNames: tunedToo }),
    createSingle('idle', {
      settings: { workers: cores, loadMs: 300, calmMs, durationMs: times.idleMs },
      poolNames: onlyPiscina,
    }),
    createSingle('first-result', { settings: {}, takes: 3, poolNames: [...oneSetting, 'post-message'] }),
    createSingle('memory', { settings: { workers: 8, calmMs, startLimitMs: 10_000 } }),
    createSingle('flood', {
      settings: { taskCount: times.floodTasks },
      poolNames: onlyPiscina,
      launch: { heapMebibytes: largeHeap(machine) },
      limitMs: 90_000,
    }),
    createSingle('cancel', {
      settings: { fewTasks: times.cancelTasks, manyTasks: 4 * times.cancelTasks },
      poolNames: onlyPiscina,
      limitMs: 60_000,
    }),
    createLargeFloodMatch(times, machine),
    createServerMatch(times, cores),
    createBodyMatch(times),
    createFrameworkMatch(times, cores),
    createLargeMatch(times),
    ...createMapMatches(times),
    createSmallItemsMatch(times, loops),
    ...createStreamMatches(times),
    createShareMatch(times),
    ...createSmallTaskMatches(times, machine, loops),
    ...createSparseMatches(times, machine),
    createPressureMatch(times),
    ...createQueueMatches(times, machine),
    ...createRealMatches(times, machine.pinnableCore),
    ...(isScaling ? createScalingMatches(times, { cores, loops }) : []),
  ]
}

function createMatch(trialName, { cells, ...rest }) {
  return {
    trialName,
    cells,
    poolNames: oneSetting,
    isLasting: false,
    takes: 1,
    launch: {},
    limitMs: 20_000,
    warmUpMs: 0,
    whyNot: null,
    ...rest,
  }
}

/** A match of one cell. The cell has the name of the trial. */
function createSingle(trialName, { settings, ...rest }) {
  return createMatch(trialName, { cells: [{ id: trialName, settings }], ...rest })
}

function createImpossible(idPairs, whyNot) {
  return createMatch('echo', { cells: idPairs.map(([id]) => ({ id, settings: {} })), whyNot })
}

/** `oneByOne` has pairs of a cell's id and a payload's id. One caller alone sends that payload. */
function createEchoMatch(times, { payloadIds, oneByOne = [], workers = 1, prefix = '', ...rest }) {
  const createCell = (id, payloadId, inFlight) => ({
    id,
    settings: { payloadId, inFlight, workers, warmUpMs: times.turnWarmUpMs, durationMs: times.turnMs },
  })
  const inFlight = 64 * workers
  const suffix = prefix === '' ? inFlight : workers
  const cells = [
    ...payloadIds.map(id => createCell(`${prefix}${id}/${suffix}`, id, inFlight)),
    ...oneByOne.map(([id, payloadId]) => createCell(id, payloadId, 1)),
  ]
  return createMatch('echo', { cells, isLasting: true, warmUpMs: times.processWarmUpMs, ...rest })
}

function createPinnedMatch(times, pinnableCore) {
  return createEchoMatch(times, {
    poolNames: onlyPiscina,
    payloadIds: [],
    oneByOne: [['pair/pinned', 'pair']],
    launch: { pinnedTo: pinnableCore },
    whyNot: pinnableCore === null ? noTaskset : null,
  })
}

function createWorkMatch(cellId, times, { loops, workers, ...rest }) {
  const settings = { loops, workers, warmUpMs: times.coresWarmUpMs, durationMs: times.coresMs }
  return createMatch('all-cores', { cells: [{ id: cellId, settings }], limitMs: 60_000, ...rest })
}

function largeHeap({ memoryMebibytes }) {
  return Math.min(12_288, Math.floor(memoryMebibytes * 0.6))
}

function createLargeFloodMatch({ largeFloodTasks: tasks, largeFloodBytes: bytes }, machine) {
  return createMatch('flood-large', {
    cells: largeFloods.map(kind => ({
      id: `flood/${kind}`,
      settings: { kind, tasks, bytes: kind === 'strings' ? bytes / 10 : bytes },
    })),
    poolNames: onlyPiscina,
    launch: { heapMebibytes: largeHeap(machine) },
    limitMs: 180_000,
  })
}

/** Binds the processes of a match to two cores, so that its figures compare between machines. */
function onTwoCores({ cores, pinnablePair }) {
  if (cores === 2) return { launch: {}, whyNot: null }
  if (cores < 2) return { launch: {}, whyNot: 'one core' }
  return { launch: { pinnedTo: pinnablePair }, whyNot: pinnablePair === null ? noTaskset : null }
}

/**
 * Bars P19 and P20. The cells `counted` are those of `shared` with tasks of counted work. All pools play with two processes, and only
 * lido and piscina with more, because of the time that this takes.
 */
function createSmallTaskMatches(times, machine, loopsPerMs) {
  const common = { warmUpMs: times.sharedTurnWarmUpMs, durationMs: times.sharedMs }
  const createCell = (prefix, { processes, taskMs, inFlight }, rest = {}) => ({
    id: `${prefix}/${processes}/${taskMs}/${inFlight}`,
    settings: { processes, taskMs, inFlight, ...common, ...rest },
  })
  const shared = sizes => sizes.map(size => createCell('shared', size))
  const counted = sizes =>
    sizes.map(size => createCell('counted', size, { loops: Math.round(size.taskMs * loopsPerMs) }))
  const create = (poolNames, cells) =>
    createMatch('small-tasks', {
      poolNames,
      cells,
      isLasting: true,
      warmUpMs: times.sharedWarmUpMs,
      limitMs: 60_000,
      ...onTwoCores(machine),
    })
  const isPair = ({ processes }) => processes === 2
  const pairs = sharedSizes.filter(isPair)
  const crowds = sharedSizes.filter(size => !isPair(size))
  const loop = loopTaskMs.map(taskMs => createCell('shared', { processes: 1, taskMs, inFlight: 1 }))
  return [
    create(smallTaskPools, [...loop, ...shared(pairs)]),
    create(onlyPiscina, shared(crowds)),
    create(smallTaskPools, counted(pairs)),
    create(onlyPiscina, counted(crowds)),
  ]
}

/** Bar P21. */
function createSparseMatches(times, machine) {
  const create = (id, rest) =>
    createMatch('small-tasks', {
      cells: [
        {
          id: `sparse/${id}`,
          settings: {
            processes: 1,
            taskMs: 0.1,
            gapMs: 10,
            inFlight: 1,
            firstTasks: 20_000,
            warmUpMs: times.sharedTurnWarmUpMs,
            durationMs: times.sparseMs,
          },
        },
      ],
      poolNames: [...smallTaskPools, 'unpooled', 'timers-alone'],
      isLasting: true,
      warmUpMs: times.sharedWarmUpMs,
      limitMs: 60_000,
      ...rest,
    })
  const { pinnableCore } = machine
  return [
    create('two-cores', onTwoCores(machine)),
    create('one-core', {
      launch: { pinnedTo: pinnableCore },
      whyNot: pinnableCore === null ? noTaskset : null,
    }),
  ]
}

function createPressureMatch({ pressureRequests: requests }) {
  return createSingle('under-pressure', {
    settings: { taskMs: 0.1, requests, everyMs: 30, maxEventLoopUtilization: 0.95 },
    poolNames: smallTaskPools,
  })
}

/** Bar P22. A process has one number of workers, so each number is a match of its own. */
function createQueueMatches(times, machine) {
  return queueWorkers.map(workers =>
    createMatch('echo', {
      cells: ['quiet', 'neighbour'].map(place => ({
        id: `queue/${workers}/${place}`,
        settings: {
          payloadId: 'int',
          inFlight: 64,
          workers,
          neighbourThreads: place === 'quiet' ? 0 : 2,
          warmUpMs: times.sharedTurnWarmUpMs,
          durationMs: times.queueMs,
        },
      })),
      poolNames: queuePools,
      isLasting: true,
      warmUpMs: times.sharedWarmUpMs,
      ...onTwoCores(machine),
    }),
  )
}

function createServerMatch(times, workers) {
  return createMatch('server', {
    cells: [10, 1000].map(connections => ({
      id: `server/${connections}`,
      settings: {
        connections,
        workers,
        rowCount: 40, // a page of 11 KB
        warmUpSeconds: times.serverSeconds[10] / 3,
        durationSeconds: times.serverSeconds[connections],
      },
    })),
    poolNames: ['lido', 'piscina', 'unpooled'],
    launch: { environment: { NODE_ENV: 'production' } },
    limitMs: 60_000,
  })
}

function createBodyMatch({ bodyBytes, bodySeconds }) {
  return createSingle('body', {
    settings: {
      maxWorkers: 2,
      bytes: bodyBytes,
      perSecond: 2,
      connections: 10,
      durationSeconds: bodySeconds,
    },
    poolNames: waysOfExamples,
    limitMs: 90_000,
  })
}

function createFrameworkMatch({ framework: { costLog2, points, ...load } }, cores) {
  const nest = { example: 'nestjs', points, ...load }
  return createMatch('framework', {
    cells: [
      { id: 'fastify', settings: { example: 'fastify', costLog2, maxWorkers: cores, ...load } },
      { id: 'nest', settings: { ...nest, processes: 1 } },
      { id: 'cluster', settings: { ...nest, processes: Math.max(2, cores) } },
    ],
    poolNames: waysOfExamples,
    limitMs: 60_000,
  })
}

function createLargeMatch({ largeResults: results, calmMs }) {
  return createMatch('large-result', {
    cells: Object.keys(largeValues).map(kind => ({
      id: `large/${kind}`,
      settings: { kind, bytes: 50e6, results, calmMs },
    })),
    poolNames: ['lido', 'piscina', 'tinypool'],
    limitMs: 60_000,
  })
}

function createMapMatches({ mapMs, mapItems, endlessMs }) {
  return [
    createMatch('map', {
      cells: [{ id: 'map', settings: { mostMs: mapMs } }],
      poolNames: ['lido', 'piscina', 'piscina-tuned', 'p-map'],
    }),
    createMatch('map', {
      cells: [
        { id: 'map/many', settings: { mostItems: mapItems, mostMs: 60_000 } },
        { id: 'map/endless', settings: { mostMs: endlessMs, isAsync: true } },
      ],
      poolNames: ['lido'],
      limitMs: 90_000 + endlessMs,
    }),
  ]
}

function createSmallItemsMatch({ shortItems, longItems }, loops) {
  return createMatch('small-items', {
    cells: [
      { id: 'small-items/short', settings: { itemCount: shortItems, loops: null } },
      { id: 'small-items/long', settings: { itemCount: longItems, loops } },
    ],
    poolNames: onlyPiscina,
    limitMs: 120_000,
  })
}

function createStreamMatches({ streamChunks: chunks, streamPauseMs: pauseMs }) {
  const bytes = 65_536
  return [
    createMatch('stream', {
      cells: [{ id: 'stream', settings: { chunks, bytes } }],
      poolNames: ['lido', 'stream-by-hand'],
    }),
    createMatch('stream', {
      cells: [{ id: 'stream/slow', settings: { chunks, bytes, pauseMs } }],
      poolNames: ['lido'],
    }),
  ]
}

function createShareMatch({ tableEntries: entries, tableTasks: tasks }) {
  return createMatch('share', {
    cells: [{ id: 'share', settings: { entries, tasks } }],
    poolNames: ['lido'],
    limitMs: 60_000,
  })
}

/** The settings of the rows `real`: numbers of workers and of tasks in flight. */
export const realSizes = [2, 8, 32].flatMap(workers => [2, 4, 32].map(inFlight => ({ workers, inFlight })))
export const realSizesOnOneCore = [{ workers: 2, inFlight: 4 }]

/** A process has one number of workers, so each number is a match of its own. */
function createRealMatches({ realWarmUpMs: warmUpMs, realMs: durationMs }, pinnableCore) {
  const create = (workers, sizes, prefix, rest) =>
    createMatch('real-work', {
      cells: realWork.flatMap(work =>
        sizes
          .filter(size => size.workers === workers)
          .map(({ inFlight }) => ({
            id: `${prefix}/${work}/${workers}/${inFlight}`,
            settings: { work, workers, inFlight, warmUpMs, durationMs },
          })),
      ),
      poolNames: ['lido', 'piscina', 'piscina-again'],
      isLasting: true,
      limitMs: 60_000,
      ...rest,
    })
  return [
    ...[2, 8, 32].map(workers => create(workers, realSizes, 'real', {})),
    create(2, realSizesOnOneCore, 'real-one-core', {
      launch: { pinnedTo: pinnableCore },
      whyNot: pinnableCore === null ? noTaskset : null,
    }),
  ]
}

function createScalingMatches(times, { cores, loops }) {
  const whyNot = cores < scalingCores ? `${cores} cores` : null
  const poolNames = ['lido', 'piscina', 'piscina-tuned', 'poolifier']
  return scalingWorkersOn(cores).flatMap(workers => [
    createEchoMatch(times, { poolNames, payloadIds: ['int', 'pair'], workers, prefix: 'scaling/', whyNot }),
    createWorkMatch(`scaling/work/${workers}`, times, { loops, workers, poolNames, whyNot }),
  ])
}
