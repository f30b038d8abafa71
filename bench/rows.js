// The printed rows: P1 to P17, P19 to P22 and the servers of examples/. Each row names a figure of a cell of programme.js, and its bars.
// A ratio is always lido's figure divided by the other one. `against`: a pool's name, 'best peer', or null to judge the figure itself.
import { largeValues } from './large-values.js'
import { payloads } from './payloads.js'
import {
  largeFloods,
  loopTaskMs,
  orderedPools,
  queueWorkers,
  realSizes,
  realSizesOnOneCore,
  realWork,
  sharedSizes,
} from './programme.js'
import { adapterNames, bareName, beforeName } from './roster.js'

const atLeast = (limit, against = null) => ({ against, atLeast: limit })
const atMost = (limit, against = null) => ({ against, atMost: limit })

const cpu = { figure: 'cpuMicrosPerTask', unit: 'µs' }
const rate = { figure: 'tasksPerSecond', unit: 'per second' }
const bestPeer = 'best peer'

function echoRow(bar, id, title, cellId, overPiscina, overBest, overBare) {
  const bars = [atLeast(overPiscina, 'piscina'), atLeast(overBest, bestPeer), atLeast(overBare, bareName)]
  return { bar, id, title: `${title}, 64 tasks in flight`, cellId, ...rate, bars }
}

function bigRow(id, title, cellId) {
  const bars = [atLeast(2, bestPeer)]
  return { bar: 'P5', id, title: `${title}, 64 tasks in flight`, cellId, ...rate, bars }
}

function serverRows(connections) {
  const common = { bar: 'P13', cellId: `server/${connections}` }
  const title = `React pages, ${connections} connections`
  return [
    {
      ...common,
      id: `P13-requests-${connections}`,
      title,
      figure: 'requestsPerSecond',
      unit: 'per second',
      bars: [atLeast(1.1, 'piscina')],
    },
    {
      ...common,
      id: `P13-p99-${connections}`,
      title: `${title}, p99`,
      figure: 'latencyMsP99',
      unit: 'ms',
      bars: [atMost(1, 'piscina')],
    },
  ]
}

/** The servers of examples/ under load, without bars. */
function frameworkRows(id, title) {
  const createRow = (name, what, figure, unit) => ({
    bar: id,
    id: `${id}-${name}`,
    title: `${title}: ${what}`,
    cellId: id,
    figure,
    unit,
    bars: [],
  })
  return [
    createRow('requests', 'computations', 'requestsPerSecond', 'per second'),
    createRow('health-p50', 'p50 of /health under this load', 'healthMsP50', 'ms'),
    createRow('health-p99', 'p99 of /health under this load', 'healthMsP99', 'ms'),
    createRow('loop', 'longest delay of the event loop', 'loopDelayMsMax', 'ms'),
  ]
}

function largeRows([kind, { label }]) {
  const common = { bar: 'P14', cellId: `large/${kind}`, unit: 'ms' }
  return [
    {
      ...common,
      id: `P14-${kind}`,
      title: `result of 50 MB, ${label}: longest delay of the event loop`,
      figure: 'delayMsMax',
      bars: [atMost(1 / 10, 'piscina'), atMost(25)],
    },
    {
      ...common,
      id: `P14-${kind}-time`,
      title: `result of 50 MB, ${label}: time to the result`,
      figure: 'resultMs',
      bars: [],
    },
  ]
}

/** The same bar for lido and for each of its entry points with the interface of a peer. */
function withDoors(bar) {
  return [bar, ...adapterNames.map(subject => ({ subject, ...bar }))]
}

/** P19, or the same tasks with counted work. */
function sharedRows(bar, prefix, what) {
  return sharedSizes.flatMap(({ processes, taskMs, inFlight }) => {
    const size = `${processes}/${taskMs}/${inFlight}`
    const id = `${bar}-${size.replaceAll('/', '-')}`
    const flight = inFlight === 1 ? 'one at a time' : `${inFlight} in flight`
    const title = `${processes} processes on two cores, tasks of ${taskMs} ms${what}, ${flight}`
    const common = { bar, cellId: `${prefix}/${size}` }
    return [
      { ...common, id, title, ...rate, bars: withDoors(atLeast(0.95, 'piscina')) },
      {
        ...common,
        id: `${id}-cpu`,
        title: `${title}: CPU per task`,
        ...cpu,
        bars: withDoors(atMost(1.1, 'piscina')),
      },
    ]
  })
}

function loopRows(taskMs) {
  const common = { bar: 'P20', cellId: `shared/1/${taskMs}/1` }
  const title = `one loop of tasks of ${taskMs} ms`
  return [
    { ...common, id: `P20-${taskMs}`, title, ...rate, bars: [] },
    {
      ...common,
      id: `P20-${taskMs}-utilization`,
      title: `${title}: utilization of the host's event loop`,
      figure: 'hostUtilization',
      unit: 'share',
      bars: taskMs === 0.1 ? withDoors({ ...atMost(0.15, 'piscina'), isDifference: true }) : [],
    },
    {
      ...common,
      id: `P20-${taskMs}-cpu`,
      title: `${title}: CPU per task`,
      ...cpu,
      bars: taskMs >= 0.05 ? withDoors(atMost(1.2, 'piscina')) : [],
    },
  ]
}

function sparseRow(id, where) {
  return {
    bar: 'P21',
    id: `P21-${id}`,
    title: `tasks of 0.1 ms, one every 10 ms, on ${where}: CPU per task`,
    cellId: `sparse/${id}`,
    ...cpu,
    bars: withDoors(atMost(1.1, 'piscina')),
  }
}

function queueRows(workers) {
  const judged = (limit, against) => orderedPools.map(subject => ({ subject, ...atLeast(limit, against) }))
  const createRow = (place, where, bars) => ({
    bar: 'P22',
    id: `P22-${workers}-${place}`,
    title: `integers, 64 tasks in flight, ${workers} worker${workers === 1 ? '' : 's'} on two cores, ${where}`,
    cellId: `queue/${workers}/${place}`,
    ...rate,
    bars,
  })
  return [
    createRow('quiet', 'quiet', [...judged(1, 'piscina'), ...judged(0.7, 'lido')]),
    createRow('neighbour', 'beside a process that computes on both', [
      ...judged(1, 'piscina'),
      ...judged(0.7, 'lido'),
    ]),
  ]
}

const largeFloodLabels = {
  objects: 'objects of 10 MB',
  'same-objects': 'the same objects of 10 MB',
  strings: 'strings of 1 MB',
  moved: 'moved buffers of 10 MB',
}

const mapMemory = { bar: 'P15', figure: 'growthMebibytes', unit: 'MiB', bars: [atMost(10)] }

export const rows = [
  echoRow('P1', 'P1', 'integers', 'int/64', 20, 10, 3),
  echoRow('P2', 'P2', '{a,b}', 'pair/64', 8, 5, 1.5),
  echoRow('P3', 'P3', '6-field object', 'six-fields/64', 6, 4, 1.5),
  echoRow('P4', 'P4', '10 KB object', 'object-10k/64', 3, 2, 2),
  bigRow('P5-string', '10 KB string', 'string-10k/64'),
  bigRow('P5-bytes', '64 KB bytes', 'bytes-64k/64'),
  {
    bar: 'P6',
    id: 'P6-spare',
    title: '{a,b}, one task at a time, a core free: median round trip',
    cellId: 'pair/one',
    figure: 'roundTripMicros',
    unit: 'µs',
    bars: [atMost(0.25, 'piscina'), atMost(10)],
  },
  {
    bar: 'P6',
    id: 'P6-pinned',
    title: '{a,b}, one task at a time, all on one core: median round trip',
    cellId: 'pair/pinned',
    figure: 'roundTripMicros',
    unit: 'µs',
    bars: [atMost(1, 'piscina')],
  },
  {
    bar: 'P6',
    id: 'P6-full',
    title: '{a,b}, one task at a time, a worker for each core: median round trip',
    cellId: 'pair/full',
    figure: 'roundTripMicros',
    unit: 'µs',
    bars: [atMost(1, 'piscina')],
  },
  {
    bar: 'P7',
    id: 'P7',
    title: '{a,b}, 64 tasks in flight: host CPU per task',
    cellId: 'pair/64',
    figure: 'hostCpuMicrosPerTask',
    unit: 'µs',
    bars: [atMost(1 / 8, 'piscina')],
  },
  {
    bar: 'P8',
    id: 'P8-running',
    title: 'host blocked while tasks run: share of the possible work',
    cellId: 'blocked-host',
    figure: 'shareWhenRunning',
    unit: 'share',
    bars: [atLeast(0.9)],
  },
  {
    bar: 'P8',
    id: 'P8-submitting',
    title: 'host blocked in the turn that submits tasks: share of the possible work',
    cellId: 'blocked-host',
    figure: 'shareWhenSubmitting',
    unit: 'share',
    bars: [atLeast(0.9)],
  },
  {
    bar: 'P9',
    id: 'P9',
    title: 'tasks of 1 ms on all cores: share of the ideal rate',
    cellId: 'all-cores',
    figure: 'shareOfIdeal',
    unit: 'share',
    bars: [atLeast(0.97)],
  },
  {
    bar: 'P10',
    id: 'P10',
    title: 'idle pool: CPU, share of one core',
    cellId: 'idle',
    figure: 'coreShare',
    unit: 'share',
    bars: [atMost(0.001)],
  },
  {
    bar: 'P11',
    id: 'P11-first',
    title: 'new Pool() to the first result',
    cellId: 'first-result',
    figure: 'firstResultMs',
    unit: 'ms',
    bars: [atMost(1.15, 'piscina')],
  },
  {
    bar: 'P11',
    id: 'P11-import',
    title: 'import of the package',
    cellId: 'first-result',
    figure: 'importMs',
    unit: 'ms',
    bars: [atMost(1, 'piscina')],
  },
  {
    bar: 'P11',
    id: 'P11-memory',
    title: 'memory of an idle worker',
    cellId: 'memory',
    figure: 'workerMebibytes',
    unit: 'MiB',
    bars: [atMost(1.1, 'piscina')],
  },
  {
    bar: 'P12',
    id: 'P12-submit',
    title: 'many queued tasks: submitting, per task',
    cellId: 'flood',
    figure: 'submitMicros',
    unit: 'µs',
    bars: [atMost(0.5, 'piscina')],
  },
  {
    bar: 'P12',
    id: 'P12-memory',
    title: 'many queued tasks: peak memory per task',
    cellId: 'flood',
    figure: 'peakBytes',
    unit: 'bytes',
    bars: [atMost(0.5, 'piscina')],
  },
  {
    bar: 'P12',
    id: 'P12-cancel',
    title: 'many queued tasks: cancelling all, per task',
    cellId: 'flood',
    figure: 'cancelMicros',
    unit: 'µs',
    bars: [atMost(0.5, 'piscina')],
  },
  {
    bar: 'P12',
    id: 'P12-signals',
    title: 'cancelling one queued task by its signal',
    cellId: 'cancel',
    figure: 'manyMicros',
    unit: 'µs',
    bars: [],
  },
  {
    bar: 'P12',
    id: 'P12-growth',
    title: 'cancelling one of 4 times as many tasks: growth of the cost',
    cellId: 'cancel',
    figure: 'growth',
    unit: 'times',
    bars: [atMost(2)],
  },
  ...serverRows(10),
  ...serverRows(1000),
  ...Object.entries(largeValues).flatMap(largeRows),
  {
    bar: 'P15',
    id: 'P15',
    title: 'map over integers',
    cellId: 'map',
    ...rate,
    bars: [atLeast(20, 'piscina'), atLeast(10, 'p-map')],
  },
  {
    ...mapMemory,
    id: 'P15-memory',
    title: 'map over 10,000,000 integers: growth of the memory',
    cellId: 'map/many',
  },
  {
    ...mapMemory,
    id: 'P15-endless',
    title: 'map over an endless async input: growth of the memory',
    cellId: 'map/endless',
  },
  {
    bar: 'P15b',
    id: 'P15b',
    title: 'map over 1,000,000 items of 1 µs, 2 workers',
    cellId: 'small-items/short',
    ...rate,
    bars: [atLeast(100, 'piscina'), atLeast(3, beforeName)],
  },
  {
    bar: 'P15b',
    id: 'P15b-long',
    title: 'map over items of 5 ms, 2 workers',
    cellId: 'small-items/long',
    ...rate,
    bars: [atLeast(1, 'piscina')],
  },
  {
    bar: 'P15b',
    id: 'P15b-idle',
    title: 'map over items of 5 ms: idle time of a worker at the end',
    cellId: 'small-items/long',
    figure: 'idleItems',
    unit: 'items',
    bars: [atMost(2)],
  },
  {
    bar: 'P16',
    id: 'P16',
    title: 'stream of 1 GiB in chunks of 64 KiB',
    cellId: 'stream',
    figure: 'mebibytesPerSecond',
    unit: 'MiB/s',
    bars: [atLeast(2, 'stream-by-hand')],
  },
  {
    bar: 'P16',
    id: 'P16-memory',
    title: 'stream with a reader that pauses: growth of the memory',
    cellId: 'stream/slow',
    figure: 'growthMebibytes',
    unit: 'MiB',
    bars: [atMost(11)],
  },
  {
    bar: 'P17',
    id: 'P17',
    title: 'tasks on a shared table of 50 MB: time, relative to an own table',
    cellId: 'share',
    figure: 'timesAsLong',
    unit: 'times',
    bars: [atMost(1.1)],
  },
  ...sharedRows('P19', 'shared', ''),
  ...loopTaskMs.flatMap(loopRows),
  {
    bar: 'P20',
    id: 'P20-refused',
    title: 'one loop of tasks of 0.1 ms: requests refused by under-pressure at 0.95',
    cellId: 'under-pressure',
    figure: 'refusedShare',
    unit: 'share',
    bars: withDoors(atMost(0)),
  },
  sparseRow('two-cores', 'two cores'),
  sparseRow('one-core', 'one core'),
  ...queueWorkers.flatMap(queueRows),
  {
    bar: 'body',
    id: 'body-small-p99',
    title: 'JSON bodies of 10 MB, 2 per second: p99 of small requests',
    cellId: 'body',
    figure: 'smallMsP99',
    unit: 'ms',
    bars: [atMost(0.2, 'unpooled')],
  },
  {
    bar: 'body',
    id: 'body-loop',
    title: 'JSON bodies of 10 MB: longest delay of the event loop',
    cellId: 'body',
    figure: 'loopDelayMsMax',
    unit: 'ms',
    bars: [atMost(25)],
  },
  {
    bar: 'body',
    id: 'body-large',
    title: 'JSON bodies of 10 MB: large bodies answered',
    cellId: 'body',
    figure: 'largePerSecond',
    unit: 'per second',
    bars: [atLeast(0.9, 'unpooled')],
  },
  ...frameworkRows('fastify', 'Fastify, hashing passwords'),
  ...frameworkRows('nest', 'Nest, estimating pi'),
  ...frameworkRows('cluster', 'Nest, one process per core'),
]

/** Rows without a bar, measured only when they are named: one caller with one task at a time. */
export const cellRows = Object.entries(payloads).map(([payloadId, { label }]) => ({
  bar: 'cells',
  id: `cells-${payloadId}`,
  title: `${label}, one task at a time`,
  cellId: `${payloadId}/one`,
  ...rate,
  bars: [],
}))

/** Two figures that differ by 3 % count as equal. */
function realRows(prefix, sizes, where) {
  return realWork.flatMap(work =>
    sizes.flatMap(({ workers, inFlight }) => {
      const common = { bar: 'real', cellId: `${prefix}/${work}/${workers}/${inFlight}` }
      const id = `${prefix}-${work}-${workers}-${inFlight}`
      const title = `${work}, ${workers} workers, ${inFlight} tasks in flight${where}`
      return [
        { ...common, id, title, ...rate, bars: [atLeast(0.97, 'piscina')] },
        {
          ...common,
          id: `${id}-cpu`,
          title: `${title}: CPU per task`,
          ...cpu,
          bars: [atMost(1 / 0.97, 'piscina')],
        },
      ]
    }),
  )
}

/** Rows that are measured only when they are named: real work, with more or fewer workers than tasks. */
export const realWorkRows = [
  ...realRows('real', realSizes, ''),
  ...realRows('real-one-core', realSizesOnOneCore, ', all on one core'),
]

/** The tasks of P19 with counted work. A task by the clock ends in time although its thread lost the core. */
export const countedRows = sharedRows('P19-counted', 'counted', ' of CPU')

/** Rows without a bar: large payloads that wait in the queue. */
export const largeFloodRows = largeFloods.flatMap(kind => {
  const common = { bar: 'P12-large', cellId: `flood/${kind}`, bars: [] }
  const title = `200 queued payloads, ${largeFloodLabels[kind]}`
  return [
    {
      ...common,
      id: `P12-large-${kind}`,
      title: `${title}: submitting, per task`,
      figure: 'submitMs',
      unit: 'ms',
    },
    {
      ...common,
      id: `P12-large-${kind}-peak`,
      title: `${title}: peak memory per task`,
      figure: 'peakMebibytes',
      unit: 'MiB',
    },
    {
      ...common,
      id: `P12-large-${kind}-held`,
      title: `${title}: memory per task after a collection of garbage`,
      figure: 'heldMebibytes',
      unit: 'MiB',
    },
  ]
})

/** The rows P1 to P9 with one more bar: against the build that `--against` names. Other rows as they are. */
export function compareWithBefore(row) {
  if (!/^P[1-9]$/.test(row.bar)) return row
  const isRate = row.bars[0].atLeast !== undefined
  return { ...row, bars: [...row.bars, isRate ? atLeast(0.95, beforeName) : atMost(1.05, beforeName)] }
}

/** Rows without a bar: the figures with different numbers of workers. */
export function createScalingRows(workerCounts) {
  const createRows = (id, title, figure, unit) =>
    workerCounts.map(workers => ({
      bar: 'scaling',
      id: `scaling-${id}-${workers}`,
      title: `${title}, ${workers} worker${workers === 1 ? '' : 's'}`,
      cellId: `scaling/${id}/${workers}`,
      figure,
      unit,
      bars: [],
    }))
  return [
    ...createRows('int', 'integers, 64 tasks in flight per worker', 'tasksPerSecond', 'per second'),
    ...createRows('pair', '{a,b}, 64 tasks in flight per worker', 'tasksPerSecond', 'per second'),
    ...createRows('work', 'tasks of 1 ms: share of the ideal rate', 'shareOfIdeal', 'share'),
  ]
}

const onlyWhenNamed = ['cells', 'real', 'P12-large', 'P19-counted']

/** `--only docs`: the rows whose figures the documentation shows. */
export const rowsOfDocs = [
  ...['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9', 'P10', 'P11', 'P12', 'P13', 'P14', 'P15', 'P15b'],
  ...['P16', 'P17', 'P19-2', 'P19-4-0.1', 'P20-0.1', 'body', 'fastify', 'nest', 'cluster'],
  ...realWork.flatMap(work => [4, 32].map(inFlight => `real-${work}-2-${inFlight}`)),
]

/**
 * The rows with these names. `P5` names both rows of that bar, `P5-bytes` one of them, and `P19-2` all rows of P19 with two processes.
 * `docs` names the rows of `rowsOfDocs`. Without names: all rows except those of `onlyWhenNamed`.
 */
export function chooseRows(all, names) {
  const wanted = names.flatMap(name => (name.toLowerCase() === 'docs' ? rowsOfDocs : name))
  const unknown = wanted.find(name => !all.some(row => isNamed(row, name)))
  if (unknown !== undefined) {
    throw new RangeError(`Unknown row '${unknown}'. Choose from: ${all.map(row => row.id).join(', ')}`)
  }
  if (wanted.length === 0) return all.filter(row => !onlyWhenNamed.includes(row.bar))
  return all.filter(row => wanted.some(name => isNamed(row, name)))
}

export function isNamed({ id, bar }, name) {
  const [ownId, ownBar, wanted] = [id, bar, name].map(text => text.toLowerCase())
  if (ownBar === wanted || ownId === wanted) return true
  return wanted.startsWith(`${ownBar}-`) && ownId.startsWith(`${wanted}-`)
}
