import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module'

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: ['error'], forceCloseConnections: true })
  await app.listen(0, '127.0.0.1')
  process.send?.(app.getHttpServer().address().port)
  process.once('SIGTERM', async () => {
    await app.close()
    process.disconnect?.()
  })
}
void bootstrap()
