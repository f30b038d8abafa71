// P13: an HTTP server whose answers are React pages rendered by the pool, under load from a process of its own.
import { strictEqual } from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import renderPage from '../handlers/page.js'

const loadPath = fileURLToPath(new URL('../server-load-process.js', import.meta.url))

export async function takeTurn(
  contestant,
  { workers, rowCount, connections, warmUpSeconds, durationSeconds },
) {
  const pool = await contestant.start({ handlerName: 'page', workers })
  const payload = { rowCount, visitor: 'the harbour office' }
  const server = createServer(async (_request, response) => {
    const page = await pool.run(payload).catch(error => error)
    if (typeof page !== 'string') response.statusCode = 500
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(String(page))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`
  strictEqual(await (await fetch(url)).text(), renderPage(payload))

  const few = Math.min(10, connections)
  await fire({ url, connections: few, durationSeconds: warmUpSeconds })
  const { failures, ...figures } = await fire({ url, connections, durationSeconds })
  strictEqual(failures, 0, `${failures} requests failed`)
  return figures
}

async function fire(plan) {
  const child = fork(loadPath, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] })
  child.send(plan)
  const [message] = await Promise.race([once(child, 'message'), failOnExit(child)])
  child.disconnect()
  return message
}

async function failOnExit(child) {
  const [code] = await once(child, 'exit')
  throw new Error(`the process that creates the load exited (${code})`)
}
