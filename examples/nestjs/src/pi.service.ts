// The two ways of estimating: on this thread, or in the pool.
import { Injectable } from '@nestjs/common'
import type { Pool } from 'lido'
import { InjectPool } from 'lido/nestjs'
import { type Estimate, estimatePi } from './estimate-pi.js'

export abstract class PiService {
  abstract estimate(points: number, signal: AbortSignal): Promise<Estimate>
}

@Injectable()
export class PiHere extends PiService {
  async estimate(points: number): Promise<Estimate> {
    return estimatePi(points)
  }
}

@Injectable()
export class PiInPool extends PiService {
  constructor(@InjectPool() private readonly pool: Pool<typeof import('./pi.worker.js')>) {
    super()
  }

  async estimate(points: number, signal: AbortSignal): Promise<Estimate> {
    return await this.pool.run(points, { signal })
  }
}
