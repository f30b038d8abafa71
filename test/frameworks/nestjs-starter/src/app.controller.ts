import { Controller, Get, Query } from '@nestjs/common'
import { ClientSignal } from 'lido/nestjs'
import { DoublingService } from './doubling.service'

@Controller()
export class AppController {
  /** Nest injects by the type alone, which needs `emitDecoratorMetadata`. */
  constructor(private readonly service: DoublingService) {}

  @Get()
  double(@Query('value') value: string, @ClientSignal() signal: AbortSignal) {
    return this.service.double(Number(value), signal)
  }
}
