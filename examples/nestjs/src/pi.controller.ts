// Two routes: /pi computes, and /health shows a load balancer that the process still answers.
import { Controller, Get, Inject, Query } from '@nestjs/common'
import { ClientSignal } from 'lido/nestjs'
import type { Estimate } from './estimate-pi.js'
import { PiService } from './pi.service.js'

@Controller()
export class PiController {
  constructor(@Inject(PiService) private readonly service: PiService) {}

  @Get('pi')
  pi(@Query('points') points: string, @ClientSignal() signal: AbortSignal): Promise<Estimate> {
    return this.service.estimate(Number(points), signal)
  }

  @Get('health')
  health(): { pid: number } {
    return { pid: process.pid }
  }
}
