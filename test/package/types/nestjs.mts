// lido/nestjs.
import { Controller, Get, Module, Query } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { HealthCheckService } from '@nestjs/terminus'
import type { Pool } from 'lido'
import {
  ClientSignal,
  getPoolToken,
  InjectPool,
  type PoolHealthIndicator,
  type PoolHealthResult,
  PoolModule,
  type PoolModuleOptions,
} from 'lido/nestjs'
import { isTrue, type Same } from './checks.mjs'

@Controller()
class Routes {
  @InjectPool('images')
  private readonly images!: Pool

  constructor(
    @InjectPool() private readonly pool: Pool<typeof import('./handler.mjs')>,
    private readonly pools: PoolHealthIndicator,
    private readonly health: HealthCheckService,
  ) {}

  @Get()
  async upper(@Query('text') text: string, @ClientSignal() signal: AbortSignal): Promise<string> {
    const upper = await this.pool.run(text, { name: 'upper', signal })
    isTrue<Same<typeof upper, string>>()
    // @ts-expect-error no such function
    await this.pool.run(text, { name: 'limit' })
    await this.images.run(1)
    return upper
  }

  @Get('health')
  async check() {
    const told: PoolHealthResult = this.pools.check('images', { pool: 'images', maxWaiting: 10 })
    return await this.health.check([() => told])
  }
}

const options: PoolModuleOptions = { filename: '/worker.js', clusterSize: 2, retryAfter: 2 }

@Module({
  imports: [
    PoolModule.forRoot(options),
    PoolModule.forRootAsync({
      inject: ['SETTINGS'],
      useFactory: async (settings: { file: string }) => ({ filename: settings.file }),
    }),
    PoolModule.forFeature({ filename: '/worker.js', as: 'images' }),
  ],
  controllers: [Routes],
})
class Root {}

// @ts-expect-error a pool of a feature has a name
PoolModule.forFeature({ filename: '/worker.js' })

const app = await NestFactory.create(Root)
const pool = app.get<Pool>(getPoolToken('images'))
await pool.run(1)
