// Records the work of the demo with `npx lido trace`, and draws both traces on one time scale: docs/pictures/trace.svg.
//   npm run docs:trace                 5 rounds
//   npm run docs:trace -- --rounds 1   a quick look
// The picture shows the fastest round of each way, because other programs of the machine only make a round longer.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { writePlaces } from '../../examples/csv/dataset.js'
import { root } from './pages.js'
import { picture } from './picture-style.js'

const rowCount = 100_000
const workers = 2
const width = 708
const left = 104
const track = { height: 24, gap: 8 }
/** The width of the smallest bar in the picture. */
const binWidth = 1.5
const waiting = ['(idle)']

const { rounds } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } }).values
const folder = mkdtempSync(join(tmpdir(), 'lido-trace-'))
const input = join(folder, 'places.csv')
await writePlaces(input, rowCount)
const recordings = { alone: [], map: [] }
for (let round = 0; round < Number(rounds); round++) {
  for (const way of Object.keys(recordings)) recordings[way].push(record(way))
}
rmSync(folder, { recursive: true })
const [alone, map] = Object.values(recordings).map(all => all.sort((a, b) => a.durationUs - b.durationUs)[0])
for (const { way, durationUs, hostShare } of [alone, map]) {
  console.log(`${way}: ${seconds(durationUs)}, main thread busy ${Math.round(hostShare * 100)} %`)
}
writeFileSync(join(root, 'docs', 'pictures', 'trace.svg'), draw())

/** Runs the work under `lido trace`, and reads what the main thread and the workers did between its start and its end. */
function record(way) {
  const file = join(folder, `${way}.json`)
  const command = [
    'bin/lido.js',
    'trace',
    '--out',
    file,
    fileURLToPath(new URL('./trace-work.js', import.meta.url)),
  ]
  const { stdout, status } = spawnSync(process.execPath, [...command, way, input, String(workers)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`trace-work.js ended with the exit code ${status}`)
  const times = JSON.parse(stdout)
  const { traceEvents, metadata } = JSON.parse(readFileSync(file, 'utf8'))
  const toUs = epochMs => (epochMs - metadata.lido.startedAt) * 1000 + metadata.lido.startedAtUs
  const [startUs, endUs] = [toUs(times.startedAt), toUs(times.endedAt)]
  const host = busyTimes(traceEvents, 1, startUs, endUs)
  return {
    way,
    durationUs: endUs - startUs,
    host,
    hostShare: host.reduce((sum, [from, to]) => sum + to - from, 0) / (endUs - startUs),
    workers: workerTasks(traceEvents).map(tasks => tasks.map(task => task.map(time => time - startUs))),
  }
}

/** The times in which a thread was not idle, from the samples of its profile. */
function busyTimes(events, tid, startUs, endUs) {
  const names = new Map()
  const busy = []
  let time = events.find(event => event.name === 'Profile' && event.tid === tid).args.data.startTime
  for (const { args } of events.filter(event => event.name === 'ProfileChunk' && event.tid === tid)) {
    const { cpuProfile, timeDeltas } = args.data
    for (const { id, callFrame } of cpuProfile?.nodes ?? []) names.set(id, callFrame.functionName)
    for (const [index, id] of (cpuProfile?.samples ?? []).entries()) {
      const from = Math.max(time, startUs)
      time += timeDeltas[index]
      const to = Math.min(time, endUs)
      if (to > from && !waiting.includes(names.get(id))) busy.push([from - startUs, to - startUs])
    }
  }
  return busy
}

/** For each worker, the start and the end of its tasks. */
function workerTasks(events) {
  const byWorker = new Map()
  const workerOf = new Map()
  for (const { name, tid, args } of events) {
    const worker = name === 'thread_name' ? /worker (\d+)/.exec(args.name)?.[1] : undefined
    if (worker !== undefined) workerOf.set(tid, worker)
  }
  for (const { ph, tid, ts, dur } of events) {
    if (ph !== 'X' || !workerOf.has(tid)) continue
    const worker = workerOf.get(tid)
    byWorker.set(worker, [...(byWorker.get(worker) ?? []), [ts, ts + dur]])
  }
  return [...byWorker.values()].map(tasks => tasks.sort(([a], [b]) => a - b))
}

function draw() {
  const scale = (width - left - 56) / Math.max(alone.durationUs, map.durationUs)
  const parts = []
  let y = 20
  for (const [title, { durationUs, host, hostShare, workers }] of [
    ['Without a pool', alone],
    ['With a pool: pool.map()', map],
  ]) {
    const busy = `main thread busy ${Math.round(hostShare * 100)} % of the time`
    parts.push(
      `<text x="0" y="${y}" font-size="14" fill="var(--text)" font-weight="600">${title}</text>`,
      `<text x="${width}" y="${y}" font-size="12" fill="var(--muted)" text-anchor="end">${seconds(durationUs)}, ${busy}</text>`,
    )
    y += 12
    const end = left + durationUs * scale
    const row = (label, color, times) => {
      parts.push(
        `<text x="0" y="${y + 16}" font-size="12" fill="var(--muted)">${label}</text>`,
        `<rect x="${left}" y="${y}" width="${round(end - left)}" height="${track.height}" fill="var(--box)"/>`,
        `<path d="${bars(times, scale, y)}" fill="var(${color})"/>`,
      )
      y += track.height + track.gap
    }
    row('main thread', '--other', host)
    for (const [index, tasks] of workers.entries()) row(`worker ${index + 1}`, '--accent', tasks)
    y += 24
  }
  return picture({ kind: 'chart', width, height: y - 24, content: parts.join('\n') })
}

/** One bar for times that are so near to each other that the picture cannot show the gap. */
function bars(times, scale, y) {
  const joined = []
  for (const [from, to] of times.map(([from, to]) => [from * scale, to * scale])) {
    const last = joined.at(-1)
    if (last !== undefined && from - last[1] < binWidth / 2) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
    .filter(([from, to]) => to - from > binWidth / 4)
    .map(
      ([from, to]) => `M${round(left + from)} ${y}h${round(to - from)}v${track.height}h${-round(to - from)}z`,
    )
    .join('')
}

function seconds(us) {
  return `${(us / 1e6).toFixed(1)} s`
}

function round(number) {
  return Math.round(number * 10) / 10
}
