import { Injectable } from '@nestjs/common'
import { Pool } from 'lido'
import { InjectPool } from 'lido/nestjs'

@Injectable()
export class DoublingService {
  constructor(@InjectPool() private readonly pool: Pool<typeof import('./doubling.worker')>) {}

  async double(value: number, signal: AbortSignal) {
    return await this.pool.run(value, { signal })
  }
}
