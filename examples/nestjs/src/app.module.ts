// Keeps how the service is put together, with the pool or without.
import { type DynamicModule, Module } from '@nestjs/common'
import { PoolModule } from 'lido/nestjs'
import { PiController } from './pi.controller.js'
import { PiHere, PiInPool, PiService } from './pi.service.js'

export interface Settings {
  isPooled: boolean
  /** How many processes answer; each sizes its pool for its part of the cores. */
  processes: number
}

@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: a dynamic module is one
export class AppModule {
  static with({ isPooled, processes }: Settings): DynamicModule {
    const pool = () => PoolModule.forRoot({ filename: new URL('./pi.worker.js', import.meta.url), processes })
    return {
      module: AppModule,
      imports: isPooled ? [pool()] : [],
      controllers: [PiController],
      providers: [{ provide: PiService, useClass: isPooled ? PiInPool : PiHere }],
    }
  }
}
