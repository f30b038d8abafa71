// A page that shows the queues in a browser: Bull Board, in an Express server.
import { once } from 'node:events'
import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import { createPostgresBackend, Queue } from 'bullmq'
import express from 'express'

/** Returns a function that closes the page. */
export async function startBoard(port, url, queueNames) {
  const queues = queueNames.map(name => new Queue(name, { connection: url }, createPostgresBackend))
  for (const queue of queues) queue.on('error', error => console.error(error.message))
  const serverAdapter = new ExpressAdapter()
  createBullBoard({ queues: queues.map(queue => new BullMQAdapter(queue)), serverAdapter })
  const app = express()
  app.use(serverAdapter.getRouter())
  const server = app.listen(port)
  await once(server, 'listening')
  console.log(`http://localhost:${port} shows the queues. Press Ctrl+C to end the example.`)
  return async () => {
    server.close()
    await Promise.all(queues.map(queue => queue.close()))
  }
}
