import { Pool } from 'lido'
import { fib } from './math.ts'

// A development server runs this file again after a change. The pool of the earlier run then closes.
const shared = globalThis as { pool?: Pool }
shared.pool?.close()
export const pool = new Pool({ module: () => import('./fib.ts'), base: import.meta.url, maxWorkers: 1 })
shared.pool = pool

const save = 0

export async function answer() {
  const { workers } = process.report.getReport() as { workers: object[] }
  return { ...(await pool.run(20)), here: fib(10), save, threads: workers.length }
}
