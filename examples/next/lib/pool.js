import { join } from 'node:path'
import { Pool } from 'lido'

// In development Next.js loads this module again after a change. The pool must stay one.
globalThis.primePool ??= new Pool({ filename: join(process.cwd(), 'workers/primes.mjs') })

export const pool = globalThis.primePool
