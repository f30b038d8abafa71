// A computing host in a container.
import { Pool } from 'lido'
import { serve } from 'lido/bullmq'

const pool = new Pool({ filename: new URL('./jobs.mjs', import.meta.url) })
const host = serve('jobs', pool, { engine: 'postgres', connection: process.env.DATABASE_URL, migrate: true })
host.on('error', error => console.error(error.message))

// Docker sends SIGTERM, and Ctrl+C sends SIGINT.
async function stop() {
  await host.close()
  await pool.close()
}
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, stop)
