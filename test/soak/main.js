// Runs many millions of tasks of mixed kinds and kills workers meanwhile. `npm run soak -- --help` shows the options. The exit code
// is 1 when any task had a wrong outcome, or when memory grew.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { inMb, limits } from './memory.js'
import { freshSeed } from './random.js'
import { soak } from './soak.js'

const PROGRESS_EVERY_MS = 5000

const options = readOptions()
console.log(
  `soak: seed ${options.seed}, ${options.endsAt === null ? `${options.tasks} tasks` : 'for a fixed time'}, ${options.transport}, ` +
    `threads ${options.threads}, concurrency ${options.concurrency}, a kill every ${options.killEveryMs} ms`,
)
const report = await soak({ ...options, onProgress: progress() })
show(report)
process.exitCode = report.violationCount === 0 ? 0 : 1

function readArguments() {
  const usage =
    'npm run soak -- [--tasks N] [--minutes N] [--seed N] [--messages] [--kill-every MS] [--threads N] [--concurrency N] [--samples N]'
  const flags = {
    tasks: { type: 'string', default: '10000000' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: String(freshSeed()) },
    messages: { type: 'boolean', default: false },
    'kill-every': { type: 'string', default: '200' },
    threads: { type: 'string', default: String(Math.min(availableParallelism(), 4)) },
    concurrency: { type: 'string', default: '1' },
    samples: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  }
  try {
    const { values } = parseArgs({ options: flags })
    if (!values.help) return values
    console.log(usage)
    process.exit()
  } catch (problem) {
    console.error(`${problem.message}\n${usage}`)
    process.exit(2)
  }
}

function readOptions() {
  const values = readArguments()
  return {
    tasks: Number(values.tasks),
    endsAt: values.minutes === undefined ? null : performance.now() + Number(values.minutes) * 60_000,
    seed: Number(values.seed),
    transport: values.messages ? 'messages' : 'shared-memory',
    killEveryMs: Number(values['kill-every']),
    threads: Number(values.threads),
    concurrency: Number(values.concurrency),
    samples: Number(values.samples),
  }
}

function progress() {
  let shownAt = performance.now()
  let shown = 0
  return ({ settled, violationCount }, kills) => {
    const now = performance.now()
    if (now - shownAt < PROGRESS_EVERY_MS) return
    const rate = Math.round(((settled - shown) / (now - shownAt)) * 1000)
    const rssMb = Math.round(process.memoryUsage.rss() / 2 ** 20)
    console.log(
      `${settled} settled, ${rate}/s, ${kills} kills, rss ${rssMb} MB, ${violationCount} violations`,
    )
    shownAt = now
    shown = settled
  }
}

function show({
  seconds,
  transport,
  tasks,
  kills,
  exits,
  rows,
  samples,
  memory,
  violations,
  violationCount,
}) {
  console.log(
    `\n${tasks} tasks in ${Math.round(seconds)} s over ${transport}; ${exits} tasks failed in ${kills} kills`,
  )
  console.table(rows)
  if (samples.length > 0) {
    console.table(
      samples.map(sample => ({
        settled: sample.settled,
        ...Object.fromEntries(Object.keys(limits).map(figure => [`${figure} MB`, inMb(sample[figure])])),
      })),
    )
    console.table(memory)
  }
  for (const violation of violations) console.log(`VIOLATION ${violation}`)
  console.log(
    violationCount === 0
      ? 'no violations'
      : `${violationCount} violations. Run the same mix of tasks again with --seed ${options.seed}`,
  )
}
