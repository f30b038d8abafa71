// Draws the charts of the documentation into `docs/charts`, and `docs/pictures/speed.svg`, from the run in `bench/results`.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawChart } from './draw-chart.js'
import { root } from './pages.js'
import { readRun } from './results.js'
import { drawSpeed } from './speed-picture.js'

const more = 'more is better'
const less = 'less is better'

/** A chart shows one row of the benchmark, or lido's share of piscina's figure in several rows. */
const charts = [
  { name: 'tasks-integer', id: 'P1', title: 'Tasks with an integer', scale: `tasks a second, ${more}` },
  { name: 'tasks-object', id: 'P3', title: 'Tasks with 6 fields', scale: `tasks a second, ${more}` },
  { name: 'tasks-10kb', id: 'P4', title: 'Tasks with an object of 10 KB', scale: `tasks a second, ${more}` },
  {
    name: 'tasks-64kb',
    id: 'P5-bytes',
    title: 'Tasks with 64 KB of bytes',
    scale: `tasks a second, ${more}`,
  },
  {
    name: 'one-task',
    id: 'P6-spare',
    title: 'One task at a time',
    scale: `median until the result, ${less}`,
  },
  { name: 'tasks-1ms', id: 'P9', title: 'Tasks of 1 ms on all cores', scale: `share of the ideal, ${more}` },
  {
    name: 'real-work',
    title: 'Real work on two workers',
    scale: `lido's rate, divided by piscina's, ${more}`,
    lines: ['levenshtein', 'markdown', 'thumbnail'].flatMap(work =>
      [4, 32].map(inFlight => ({
        id: `real-${work}-2-${inFlight}`,
        label: `${work}, ${inFlight} in flight`,
      })),
    ),
  },
  {
    name: 'shared-cores',
    title: 'Several processes share two cores',
    scale: `lido's rate, divided by piscina's, ${more}`,
    lines: [
      ...[0.02, 0.1, 0.3].flatMap(taskMs => [1, 8].map(inFlight => sharedLine(2, taskMs, inFlight))),
      ...[1, 8].map(inFlight => sharedLine(4, 0.1, inFlight)),
    ],
  },
  {
    name: 'blocked-main-thread',
    id: 'P8-running',
    title: 'Work done while the main thread is blocked',
    scale: `share of the possible work, ${more}`,
  },
  {
    name: 'react-pages',
    id: 'P13-requests-10',
    title: 'A server renders React pages',
    scale: `pages a second, ${more}`,
  },
  {
    name: 'passwords',
    id: 'fastify-requests',
    title: 'A Fastify server hashes passwords',
    scale: `hashes a second, ${more}`,
  },
  {
    name: 'passwords-health',
    id: 'fastify-health-p99',
    title: 'Another route of the same server',
    scale: `99 of 100 answers within, ${less}`,
  },
  {
    name: 'nest',
    id: 'nest-requests',
    title: 'A Nest service computes',
    scale: `computations a second, ${more}`,
  },
  {
    name: 'nest-health',
    id: 'nest-health-p99',
    title: 'Another route of the same service',
    scale: `99 of 100 answers within, ${less}`,
  },
  {
    name: 'json-bodies',
    id: 'body-small-p99',
    title: 'Small requests beside JSON bodies of 10 MB',
    scale: `99 of 100 answers within, ${less}`,
  },
  {
    name: 'large-result',
    id: 'P14-objects',
    title: 'A result of 50 MB arrives: objects',
    scale: `longest delay of the event loop, ${less}`,
  },
  {
    name: 'first-result',
    id: 'P11-first',
    title: 'From a new pool to the first result',
    scale: `time, ${less}`,
  },
  { name: 'import', id: 'P11-import', title: 'Import of the package', scale: `time, ${less}` },
  { name: 'worker-memory', id: 'P11-memory', title: 'Memory of an idle worker', scale: less },
]

function sharedLine(processes, taskMs, inFlight) {
  return {
    id: `P19-${processes}-${taskMs}-${inFlight}`,
    label: `${processes} processes, ${taskMs} ms, ${inFlight} ${inFlight === 1 ? 'call' : 'calls'}`,
  }
}

export function drawCharts(docs = join(root, 'docs'), run = readRun()) {
  const folder = join(docs, 'charts')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(docs, 'pictures'), { recursive: true })
  for (const chart of charts) writeFileSync(join(folder, `${chart.name}.svg`), drawChart(chart, run))
  writeFileSync(join(docs, 'pictures', 'speed.svg'), drawSpeed(run))
}
