// One way of parsing a body, as a server in a process of its own. load.js starts it.
import express from 'express'
import { EventLoopDelay } from '../shared/event-loop-delay.js'
import { answerParent, meetParent, tellParent } from '../shared/parent.js'
import { summarize } from './orders.js'
import { parsers } from './parsers.js'

const { way, maxWorkers } = await meetParent()
const delay = new EventLoopDelay()
const app = express()
// Requests are left when the load stops. Otherwise Express would print an error for each of them.
app.set('env', 'test')
app.get('/small', (_request, response) => response.json({ ok: true }))
app.post('/orders', ...(await parsers[way](maxWorkers)), ({ body }, response) => {
  response.json(Array.isArray(body) ? summarize(body) : body)
})

answerParent({
  async measure() {
    await delay.start()
    return { kind: 'measuring' }
  },
  async report() {
    return { kind: 'measured', loopDelayMs: await delay.stop() }
  },
})
const server = app.listen(0, '127.0.0.1', () => {
  tellParent({ kind: 'listening', port: server.address().port })
})
