// Handlers with metrics of their own, in the default register of prom-client.
import prom from 'prom-client'

const jobs = new prom.Counter({ name: 'jobs_total', help: 'Jobs.', labelNames: ['kind'] })
const sizes = new prom.Histogram({ name: 'job_size', help: 'Sizes.', buckets: [1, 10] })
const open = new prom.Gauge({ name: 'open_files', help: 'Open files.' })
prom.collectDefaultMetrics({ prefix: '' })

export default ({ kind = 'plain', size = 1 } = {}) => {
  jobs.inc({ kind })
  sizes.observe(size)
  open.set(1)
}

/** Counts, and then blocks its thread until the gate is open. */
export function blocks({ gate }) {
  jobs.inc({ kind: 'blocking' })
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  Atomics.wait(gate, 1, 0)
}

/** Waits until each of `guests` tasks runs on a thread of its own. */
export function meet({ words, guests }) {
  jobs.inc({ kind: 'meeting' })
  Atomics.add(words, 0, 1)
  Atomics.notify(words, 0)
  for (let here = Atomics.load(words, 0); here < guests; here = Atomics.load(words, 0))
    Atomics.wait(words, 0, here)
}

export function fails() {
  throw new Error('no')
}
