// The process. With PI_PROCESSES above 1 it is the primary of a cluster, and each of its processes is a server. Otherwise it is the
// server. It sends the port to its parent process.
import 'reflect-metadata'
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module.js'
import { readSettings } from './settings.js'

const settings = readSettings(process.env)
// The parent process has exited.
const endings = ['SIGTERM', 'SIGINT', 'disconnect'] as const

if (settings.processes > 1 && cluster.isPrimary) await lead(settings.processes)
else await serve()

async function lead(processes: number): Promise<void> {
  const workers = Array.from({ length: processes }, () => cluster.fork())
  const ended = Promise.all(workers.map(worker => once(worker, 'exit')))
  for (const ending of endings) {
    process.once(ending, () => {
      for (const worker of workers) worker.process.kill('SIGTERM')
    })
  }
  const [[address]] = (await Promise.all(workers.map(worker => once(worker, 'listening')))) as [AddressInfo][]
  tellPort(address!.port)
  const exits = (await ended) as [number][]
  process.exit(Math.max(...exits.map(([code]) => code)))
}

async function serve(): Promise<void> {
  const app = await NestFactory.create(AppModule.with(settings), {
    logger: ['error', 'warn'],
    forceCloseConnections: true,
  })
  await app.listen(0, '127.0.0.1')
  // The process exits by itself when the server and the pool have closed.
  let isClosing = false
  for (const ending of endings) {
    process.on(ending, async () => {
      if (isClosing) return
      isClosing = true
      await app.close()
      if (process.connected) process.disconnect()
    })
  }
  if (cluster.isPrimary) tellPort((app.getHttpServer().address() as AddressInfo).port)
}

function tellPort(port: number): void {
  process.send?.({ kind: 'listening', port })
}
