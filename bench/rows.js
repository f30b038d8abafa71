// What is printed: P1 to P14 and the servers of examples/, each with the figure it reads from a cell of programme.js and the bars it is held against.
// A ratio is always ours / theirs. `against`: a pool's name, 'best peer', or null where the figure itself is judged.
import { largeValues } from './large-values.js'
import { payloads } from './payloads.js'
import { bareName } from './roster.js'

const atLeast = (limit, against = null) => ({ against, atLeast: limit })
const atMost = (limit, against = null) => ({ against, atMost: limit })

const rate = { figure: 'tasksPerSecond', unit: 'per second' }
const bestPeer = 'best peer'

function echoRow(bar, id, title, cellId, overPiscina, overBest, overBare) {
  const bars = [atLeast(overPiscina, 'piscina'), atLeast(overBest, bestPeer), atLeast(overBare, bareName)]
  return { bar, id, title: `${title}, 64 in flight`, cellId, ...rate, bars }
}

function bigRow(id, title, cellId) {
  const bars = [atLeast(2, bestPeer)]
  return { bar: 'P5', id, title: `${title}, 64 in flight`, cellId, ...rate, bars }
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

/** Servers of examples/ under load: figures without a bar. */
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
    createRow('health-p50', '/health beside them, p50', 'healthMsP50', 'ms'),
    createRow('health-p99', '/health beside them, p99', 'healthMsP99', 'ms'),
    createRow('loop', 'event loop late by, at most', 'loopDelayMsMax', 'ms'),
  ]
}

function largeRows([kind, { label }]) {
  const common = { bar: 'P14', cellId: `large/${kind}`, unit: 'ms' }
  return [
    {
      ...common,
      id: `P14-${kind}`,
      title: `50 MB, ${label}: event-loop delay, most`,
      figure: 'delayMsMax',
      bars: [atMost(1 / 10, 'piscina'), atMost(25)],
    },
    {
      ...common,
      id: `P14-${kind}-time`,
      title: `50 MB, ${label}: until it is there`,
      figure: 'resultMs',
      bars: [],
    },
  ]
}

export const rows = [
  echoRow('P1', 'P1', 'int', 'int/64', 20, 10, 3),
  echoRow('P2', 'P2', '{a,b}', 'pair/64', 8, 5, 1.5),
  echoRow('P3', 'P3', '6-field object', 'six-fields/64', 6, 4, 1.5),
  echoRow('P4', 'P4', '10 KB object', 'object-10k/64', 3, 2, 2),
  bigRow('P5-string', '10 KB string', 'string-10k/64'),
  bigRow('P5-bytes', '64 KB bytes', 'bytes-64k/64'),
  {
    bar: 'P6',
    id: 'P6-spare',
    title: '{a,b} one by one, p50, a core to spare',
    cellId: 'pair/one',
    figure: 'roundTripMicros',
    unit: 'µs',
    bars: [atMost(0.25, 'piscina'), atMost(10)],
  },
  {
    bar: 'P6',
    id: 'P6-pinned',
    title: '{a,b} one by one, p50, all on one core',
    cellId: 'pair/pinned',
    figure: 'roundTripMicros',
    unit: 'µs',
    bars: [atMost(1, 'piscina')],
  },
  {
    bar: 'P6',
    id: 'P6-full',
    title: '{a,b} one by one, p50, a worker for each core',
    cellId: 'pair/full',
    figure: 'roundTripMicros',
    unit: 'µs',
    bars: [atMost(1, 'piscina')],
  },
  {
    bar: 'P7',
    id: 'P7',
    title: '{a,b}, 64 in flight, host CPU a task',
    cellId: 'pair/64',
    figure: 'hostCpuMicrosPerTask',
    unit: 'µs',
    bars: [atMost(1 / 8, 'piscina')],
  },
  {
    bar: 'P8',
    id: 'P8-running',
    title: 'host blocked while 1 ms tasks run: done / could do',
    cellId: 'blocked-host',
    figure: 'shareWhenRunning',
    unit: 'share',
    bars: [atLeast(0.9)],
  },
  {
    bar: 'P8',
    id: 'P8-submitting',
    title: 'host blocked in the turn that submits them',
    cellId: 'blocked-host',
    figure: 'shareWhenSubmitting',
    unit: 'share',
    bars: [atLeast(0.9)],
  },
  {
    bar: 'P9',
    id: 'P9',
    title: '1 ms tasks on all cores: rate / ideal',
    cellId: 'all-cores',
    figure: 'shareOfIdeal',
    unit: 'share',
    bars: [atLeast(0.97)],
  },
  {
    bar: 'P10',
    id: 'P10',
    title: 'idle: CPU, of one core',
    cellId: 'idle',
    figure: 'coreShare',
    unit: 'share',
    bars: [atMost(0.001)],
  },
  {
    bar: 'P11',
    id: 'P11-first',
    title: 'new pool to first result',
    cellId: 'first-result',
    figure: 'firstResultMs',
    unit: 'ms',
    bars: [atMost(1, 'piscina')],
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
    bars: [atMost(1, 'piscina')],
  },
  {
    bar: 'P12',
    id: 'P12-submit',
    title: 'flood: submitting, a task',
    cellId: 'flood',
    figure: 'submitMicros',
    unit: 'µs',
    bars: [atMost(0.5, 'piscina')],
  },
  {
    bar: 'P12',
    id: 'P12-memory',
    title: 'flood: peak memory, a task',
    cellId: 'flood',
    figure: 'peakBytes',
    unit: 'bytes',
    bars: [atMost(0.5, 'piscina')],
  },
  {
    bar: 'P12',
    id: 'P12-cancel',
    title: 'flood: cancelling all, a task',
    cellId: 'flood',
    figure: 'cancelMicros',
    unit: 'µs',
    bars: [atMost(0.5, 'piscina')],
  },
  {
    bar: 'P12',
    id: 'P12-signals',
    title: 'cancelling one by its signal',
    cellId: 'cancel',
    figure: 'manyMicros',
    unit: 'µs',
    bars: [],
  },
  {
    bar: 'P12',
    id: 'P12-growth',
    title: 'cancelling one of 4 times as many: cost / cost',
    cellId: 'cancel',
    figure: 'growth',
    unit: 'times',
    bars: [atMost(2)],
  },
  ...serverRows(10),
  ...serverRows(1000),
  ...Object.entries(largeValues).flatMap(largeRows),
  {
    bar: 'body',
    id: 'body-small-p99',
    title: 'small requests beside JSON bodies of 10 MB, 2 a second: p99',
    cellId: 'body',
    figure: 'smallMsP99',
    unit: 'ms',
    bars: [atMost(0.2, 'unpooled')],
  },
  {
    bar: 'body',
    id: 'body-loop',
    title: 'the same: event loop late by, at most',
    cellId: 'body',
    figure: 'loopDelayMsMax',
    unit: 'ms',
    bars: [atMost(25)],
  },
  {
    bar: 'body',
    id: 'body-large',
    title: 'the same: large bodies answered',
    cellId: 'body',
    figure: 'largePerSecond',
    unit: 'per second',
    bars: [atLeast(0.9, 'unpooled')],
  },
  ...frameworkRows('fastify', 'hashing passwords'),
  ...frameworkRows('nest', 'estimating pi'),
  ...frameworkRows('cluster', 'Nest in as many processes as cores'),
]

/** Rows without a bar that only play when they are named: one caller alone, whose figures are all round trips. */
export const cellRows = Object.entries(payloads).map(([payloadId, { label }]) => ({
  bar: 'cells',
  id: `cells-${payloadId}`,
  title: `${label}, one by one`,
  cellId: `${payloadId}/one`,
  ...rate,
  bars: [],
}))

/** Rows without a bar: how the figures change with the number of workers. */
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
    ...createRows('int', 'int, 64 in flight a worker', 'tasksPerSecond', 'per second'),
    ...createRows('pair', '{a,b}, 64 in flight a worker', 'tasksPerSecond', 'per second'),
    ...createRows('work', '1 ms tasks: rate / ideal', 'shareOfIdeal', 'share'),
  ]
}

/** The rows named by `names`: `P5` is both of that bar, `P5-bytes` one of them. None named: all but the cells. */
export function chooseRows(all, names) {
  const isNamed = (row, name) => row.id.toLowerCase() === name || row.bar.toLowerCase() === name
  const wanted = names.map(name => name.toLowerCase())
  const unknown = wanted.findIndex(name => !all.some(row => isNamed(row, name)))
  if (unknown >= 0) {
    throw new RangeError(`No row '${names[unknown]}'. Rows: ${all.map(row => row.id).join(', ')}`)
  }
  if (wanted.length === 0) return all.filter(row => row.bar !== 'cells')
  return all.filter(row => wanted.some(name => isNamed(row, name)))
}
