import { join } from 'node:path'
import { Module } from '@nestjs/common'
import { PoolModule } from 'lido/nestjs'
import { AppController } from './app.controller'
import { DoublingService } from './doubling.service'

@Module({
  imports: [PoolModule.forRoot({ filename: join(__dirname, 'doubling.worker.js'), maxWorkers: 1 })],
  controllers: [AppController],
  providers: [DoublingService],
})
export class AppModule {}
