import { createFileRoute } from '@tanstack/react-router'
import { answer } from '../lib/pool.ts'

export const Route = createFileRoute('/fib')({
  server: { handlers: { GET: async () => Response.json(await answer()) } },
})
