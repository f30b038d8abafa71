import { expect, fulfilled, pause, rejected } from '../harness/expect.js'

const count = 40_000
const part = 1000
/** The aborted tasks are spread over the whole queue, because tasks at its ends are easy to find. */
const stride = 7919

function measureCpuMs(work) {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Signals with one listener each: aborting them shows the cost of Node itself. */
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
 * The cost of aborting the calls, as a multiple of the cost of bare aborts. It is the median over parts that are aborted in
 * turn, because other load on the machine may slow down some parts.
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
  title: '40,000 aborted queued tasks cost at most 2.5 times as much as bare aborts.',
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
