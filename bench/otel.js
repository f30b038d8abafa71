// The cost of OpenTelemetry: tasks of 1 ms of CPU with lido/opentelemetry, divided by the same tasks without it.
//   npm run bench:otel -- [--rounds 9] [--seconds 1] [--workers 1]
// Each way has a process of its own, with the SDK in the host and in the workers. Exporters drop the spans. The ways take turns.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describeMachine } from './machine.js'
import { countLoopsPerMs } from './work.js'

const ways = ['without', 'all sampled', 'none sampled', 'minRunMs 10']
const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
  },
})

console.log(JSON.stringify(describeMachine()))
const loops = String(countLoopsPerMs())
const contestants = await Promise.all(ways.map(start))
const samples = ways.map(() => [])
for (let round = 0; round < Number(flags.rounds); round++) {
  // Another way is first in each round.
  for (let turn = 0; turn < ways.length; turn++) {
    const index = (turn + round) % ways.length
    samples[index].push(await play(contestants[index]))
  }
}
for (const contestant of contestants) contestant.send('end')
for (const [index, way] of ways.entries()) report(way, samples[index])

async function start(way) {
  const args = [way, flags.workers, flags.seconds, loops]
  const contestant = fork(fileURLToPath(new URL('./otel-contestant.js', import.meta.url)), args)
  await once(contestant, 'message')
  return contestant
}

async function play(contestant) {
  contestant.send('go')
  const [sample] = await once(contestant, 'message')
  return sample
}

/** Two figures of one round are divided, then the median of the ratios is taken. */
function report(way, found) {
  const ratio = name => median(found.map((sample, round) => sample[name] / samples[0][round][name]))
  const rate = Math.round(median(found.map(({ perSecond }) => perSecond)))
  const cpu = Math.round(median(found.map(({ cpuMicros }) => cpuMicros)))
  console.log(
    `${way.padEnd(14)}${String(rate).padStart(6)}/s ×${ratio('perSecond').toFixed(3)}   CPU of the process ${cpu} µs a task ×${ratio('cpuMicros').toFixed(3)}`,
  )
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}
