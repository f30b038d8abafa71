// The metrics of `lido/bullmq`: of the hosts in this program, and of queues, which all programs share.
import { realClock, within } from '../../kit.js'
import type { Definition } from './pool-metrics.js'
import type { Samples } from './samples.js'

/** What `serve()` returns. */
export interface MetricHost {
  /** The figures of the host. */
  stats(): {
    queue: string
    overload: string | null
    concurrency: number
    active: number
    completed: number
    failed: number
    givenBack: number
  }
}

/** A `RemotePool`. */
export interface MetricQueue {
  /** The name of the queue. */
  stats(): { label: string }
  /** Asks the server for the jobs in the queue. */
  counts(): Promise<{ waiting: number; running: number; oldestWaitingMs: number }>
}

export const hostDefinitions: readonly Definition[] = [
  { name: 'host_jobs_active', type: 'gauge', help: 'Jobs that this host runs or holds.' },
  {
    name: 'host_jobs_total',
    type: 'counter',
    help: 'Ended jobs, by outcome: completed, failed or given back.',
  },
  { name: 'host_concurrency', type: 'gauge', help: 'Jobs that this host takes at once.' },
  {
    name: 'host_overloaded',
    type: 'gauge',
    help: '1 while this host takes no jobs because it is overloaded.',
  },
]

export const queueDefinitions: readonly Definition[] = [
  { name: 'queue_jobs_waiting', type: 'gauge', help: 'Jobs that a host could take now.' },
  { name: 'queue_jobs_running', type: 'gauge', help: 'Jobs that hosts have.' },
  {
    name: 'queue_oldest_waiting_seconds',
    type: 'gauge',
    help: 'How long the oldest waiting job has waited.',
  },
]

export function addHost(host: MetricHost, samples: Samples): void {
  const { queue, overload, concurrency, active, completed, failed, givenBack } = host.stats()
  const labels = { queue }
  samples.add('host_jobs_active', labels, active)
  samples.add('host_concurrency', labels, concurrency)
  samples.max('host_overloaded', labels, overload === null ? 0 : 1)
  samples.add('host_jobs_total', { ...labels, outcome: 'completed' }, completed)
  samples.add('host_jobs_total', { ...labels, outcome: 'failed' }, failed)
  samples.add('host_jobs_total', { ...labels, outcome: 'given back' }, givenBack)
}

/** Asks the servers of the queues. Without an answer in time, a queue has no figures. */
export async function addQueues(
  queues: readonly MetricQueue[],
  samples: Samples,
  timeoutMs: number,
): Promise<void> {
  await Promise.all(
    queues.map(async queue => {
      const counts = await within(
        realClock,
        timeoutMs,
        queue.counts().catch(() => null),
        () => null,
      )
      if (counts === null) return
      const labels = { queue: queue.stats().label }
      samples.max('queue_jobs_waiting', labels, counts.waiting)
      samples.max('queue_jobs_running', labels, counts.running)
      samples.max('queue_oldest_waiting_seconds', labels, counts.oldestWaitingMs / 1000)
    }),
  )
}
