import { expect, fulfilled, pause, rejected } from '../harness/expect.js'

const count = 40_000
const part = 1000
/** From all over the line, as neither end of it is hard to find. */
const stride = 7919

function measureCpuMs(work) {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Signals with one listener each: aborting them costs what the platform itself takes. */
function openBareCalls() {
  return Array.from({ length: count }, () => {
    const controller = new AbortController()
    const promise = new Promise((_, reject) => {
      controller.signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), {
        once: true,
      })
    })
    promise.catch(() => {})
    return controller
  })
}

/**
 * How many times the others' cost the calls' is: the median over parts, aborted in turn, as a neighbour on
 * the machine may stretch some of them.
 */
function compareAborts(calls, bareCalls) {
  const ratios = []
  for (let start = 0; start < count; start += part) {
    const [bareMs, tookMs] = [bareCalls, calls].map(list =>
      measureCpuMs(() => {
        for (let turn = start; turn < start + part; turn++) list[(turn * stride) % count].abort()
      }),
    )
    ratios.push(tookMs / bareMs)
  }
  return ratios.sort((a, b) => a - b)[ratios.length >> 1]
}

export default {
  title:
    '40,000 queued tasks aborted at once: all rejected, none runs, and aborting them is not quadratic (at most 2.5 times the cost of bare aborts).',
  limitMs: 90_000,
  isHeavy: true,
  async run({ open, facts }) {
    const pool = open({ workers: 1 })
    const first = pool.run('gated', 0)
    await facts.reach(1, 'started')
    const calls = Array.from({ length: count }, (_, number) =>
      pool.run('noted', number, { isAbortable: true }),
    )
    await pause(50)
    const ratio = compareAborts(calls, openBareCalls())
    for (const call of calls) await rejected(call)
    expect(ratio <= 2.5, `aborting took ${ratio.toFixed(2)} times the CPU of bare aborts, allowed is 2.5`)
    facts.openGate()
    await fulfilled(first, 0)
    await fulfilled(pool.run('echo', 1), 1)
    expect(facts.numbers('ran').length === 0, `${facts.numbers('ran').length} aborted tasks ran`)
  },
}
