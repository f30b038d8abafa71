// The modules of the service, with a pool or without.
import { type DynamicModule, Module } from '@nestjs/common'
import { PoolModule } from 'lido/nestjs'
import { PiInPiscina, PiInWorker } from './pi.by-hand.js'
import { PiController } from './pi.controller.js'
import { PiHere, PiInPool, PiService } from './pi.service.js'
import { type Settings, settingsToken } from './settings.js'

const services = { alone: PiHere, worker: PiInWorker, piscina: PiInPiscina, lido: PiInPool }

@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: a dynamic module is one
export class AppModule {
  static with(settings: Settings): DynamicModule {
    const { way, processes } = settings
    const pool = () =>
      PoolModule.forRoot({ filename: new URL('./pi.worker.js', import.meta.url), clusterSize: processes })
    return {
      module: AppModule,
      imports: way === 'lido' ? [pool()] : [],
      controllers: [PiController],
      providers: [
        { provide: PiService, useClass: services[way] },
        { provide: settingsToken, useValue: settings },
      ],
    }
  }
}
