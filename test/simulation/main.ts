// The simulation as a program:
//   node --conditions=simulation build/unit/test/simulation/main.js --seed 17     one seed, step by step
//   … --seeds 1000000 [--from 1]                                                  many seeds, until one fails
//   … --transport messages|shared-memory                                          with one transport only
import { parseArgs } from 'node:util'
import type { TransportChoice } from './options.js'
import { shrink } from './shrink.js'
import { drawProgramme, simulate } from './simulate.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '20000' },
    from: { type: 'string', default: '1' },
    transport: { type: 'string', default: 'any' },
    whole: { type: 'boolean', default: false },
  },
})
const transport = values.transport as TransportChoice

if (values.seed === undefined) await runMany(Number(values.from), Number(values.seeds))
else await showOne(Number(values.seed))

async function runMany(from: number, count: number): Promise<void> {
  const start = process.hrtime.bigint()
  let calls = 0
  for (let seed = from; seed < from + count; seed++) {
    const finding = await simulate(drawProgramme(seed, transport))
    calls += finding.calls
    if (finding.wrong === null) continue
    console.log(`seed ${seed}: ${finding.wrong}`)
    process.exit(1)
  }
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  console.log(`${count} seeds from ${from}, ${calls} calls, ${seconds.toFixed(1)} s: no problem`)
  process.exit(0)
}

async function showOne(seed: number): Promise<void> {
  const drawn = drawProgramme(seed, transport)
  const isWrong = (await simulate(drawn)).wrong !== null
  const programme = isWrong && !values.whole ? await shrink(drawn) : drawn
  const { wrong, trace } = await simulate(programme, true)
  console.log(JSON.stringify({ ...programme, events: programme.events.length }, null, 1))
  console.log(trace.join('\n'))
  console.log(wrong === null ? 'no problem' : `\nseed ${seed}: ${wrong}`)
  process.exit(wrong === null ? 0 : 1)
}
