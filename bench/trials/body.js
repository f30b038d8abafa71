// Large JSON bodies beside small requests: how long the small ones wait, how late the event loop runs, and how many large
// ones are answered. The contestant `unpooled` is Express' own parser; a peer gets the bytes and gives back the value.
import { strictEqual } from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { json } from 'lido/express'
import { summarize } from '../../examples/body/orders.js'
import { EventLoopDelay } from '../../examples/shared/event-loop-delay.js'

const loadPath = fileURLToPath(new URL('../body-load-process.js', import.meta.url))
const limit = '100mb'

export async function takeTurn(contestant, { workers, warmUpSeconds, durationSeconds, ...load }) {
  const app = express()
  // Where the load stops it leaves requests behind; Express would write each of them to the console.
  app.set('env', 'test')
  app.get('/small', (_request, response) => response.json({ ok: true }))
  app.post('/orders', ...(await parserOf(contestant, workers)), ({ body }, response) => {
    response.json(summarize(body))
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`

  await fire({ url, ...load, durationSeconds: warmUpSeconds })
  const delay = new EventLoopDelay()
  await delay.start()
  const { failures, ...figures } = await fire({ url, ...load, durationSeconds })
  const { max } = await delay.stop()
  strictEqual(failures, 0, `${failures} requests failed`)
  return { ...figures, loopDelayMsMax: max }
}

async function parserOf(contestant, workers) {
  if (contestant.adapter === 'unpooled') return [express.json({ limit })]
  if (contestant.adapter === 'lido') return [json({ limit })]
  const pool = await contestant.start({ handlerName: 'json', workers })
  return [
    express.raw({ limit, type: 'application/json' }),
    async (request, _response, next) => {
      request.body = await pool.run(new Uint8Array(request.body))
      next()
    },
  ]
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
  throw new Error(`the load's process ended (${code})`)
}
