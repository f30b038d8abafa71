import { watchFile } from 'node:fs'
import { join } from 'node:path'
import { Pool } from 'lido'

const filename = join(process.cwd(), 'workers/fib.mjs')

// A development server runs this file again after a change. It keeps the pool of the first run.
if (globalThis.pool === undefined) {
  globalThis.pool = new Pool({ filename, maxWorkers: 1 })
  if (process.env.NODE_ENV === 'development')
    watchFile(filename, { interval: 300 }, () => globalThis.pool.reload())
}
export const pool = globalThis.pool

const save = 0

export async function answer() {
  return { ...(await pool.run(20)), save, threads: process.report.getReport().workers.length }
}
