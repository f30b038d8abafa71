// A caller in a container. Counts primes on the hosts.
import { RemotePool } from 'lido/bullmq'

const pool = new RemotePool('jobs', {
  engine: 'postgres',
  connection: process.env.DATABASE_URL,
  migrate: true,
})
pool.on('error', error => console.error(error.message))
const limits = Array.from({ length: 100 }, (_, index) => (index + 1) * 10_000)
const counts = await pool.map(limits, { name: 'primes' }).toArray()
console.log(`There are ${counts.at(-1)} primes below ${limits.at(-1)}.`)
await pool.close()
