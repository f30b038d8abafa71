// Keeps one way to a parsed body, as a server in a process of its own; load.js starts it.
import express from 'express'
import { EventLoopDelay } from '../shared/event-loop-delay.js'
import { answerParent, meetParent, tellParent } from '../shared/parent.js'
import { summarize } from './orders.js'
import { parsers } from './parsers.js'

const { way, maxWorkers } = await meetParent()
const delay = new EventLoopDelay()
const app = express()
// Where the load stops it leaves requests behind; Express would write each of them to the console.
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
