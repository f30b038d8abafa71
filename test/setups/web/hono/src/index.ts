import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { answer } from './pool.ts'

const app = new Hono()
app.get('/', context => context.text('hello'))
app.get('/fib', async context => context.json(await answer()))

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' })
