import { expect, fulfilled, pause, rejected } from '../harness/expect.js'

const count = 40_000

function measureCpuMs(work) {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** What the platform itself takes for so many signals with one listener each. */
function measureBareAborts() {
  const controllers = Array.from({ length: count }, () => new AbortController())
  for (const { signal } of controllers) {
    const promise = new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), {
        once: true,
      })
    })
    promise.catch(() => {})
  }
  return measureCpuMs(() => {
    for (const controller of controllers) controller.abort()
  })
}

export default {
  title:
    '40,000 queued tasks aborted at once: all rejected, none runs, and aborting them is not quadratic (at most 2.5 times the cost of 40,000 bare aborts + 0.3 s).',
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
    const allowedMs = 2.5 * measureBareAborts() + 300
    const tookMs = measureCpuMs(() => {
      for (const call of calls) call.abort()
    })
    for (const call of calls) await rejected(call)
    expect(tookMs <= allowedMs, `took ${Math.round(tookMs)} ms of CPU, allowed are ${Math.round(allowedMs)}`)
    facts.openGate()
    await fulfilled(first, 0)
    await fulfilled(pool.run('echo', 1), 1)
    expect(facts.numbers('ran').length === 0, `${facts.numbers('ran').length} aborted tasks ran`)
  },
}
