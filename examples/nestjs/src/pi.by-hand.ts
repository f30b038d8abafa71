// Two other ways of estimating, for comparison: a worker for each request, and piscina.
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common'
import { Piscina } from 'piscina'
import type { Estimate } from './estimate-pi.js'
import { PiService } from './pi.service.js'
import { type Settings, settingsToken } from './settings.js'

const file = new URL('./pi.worker.js', import.meta.url)

@Injectable()
export class PiInWorker extends PiService {
  async estimate(points: number): Promise<Estimate> {
    const worker = new Worker(file, { workerData: { pointsOfOneRequest: points } })
    const [estimate] = (await once(worker, 'message')) as [Estimate]
    return estimate
  }
}

@Injectable()
export class PiInPiscina extends PiService implements OnApplicationShutdown {
  private readonly pool: Piscina
  private readonly running = new Set<Promise<Estimate>>()

  constructor(@Inject(settingsToken) { processes }: Settings) {
    super()
    // piscina has no option for the number of processes.
    const maxThreads = Math.max(1, Math.floor(availableParallelism() / processes))
    this.pool = new Piscina({ filename: fileURLToPath(file), maxThreads })
  }

  async estimate(points: number): Promise<Estimate> {
    const estimate = this.pool.run(points)
    this.running.add(estimate)
    try {
      return await estimate
    } finally {
      this.running.delete(estimate)
    }
  }

  async onApplicationShutdown(): Promise<void> {
    // `close()` of piscina kills running tasks.
    await Promise.allSettled(this.running)
    await this.pool.destroy()
  }
}
