// A test with a time limit and pools that do not outlive it: `open(options)` makes a pool that is destroyed when the
// test ends, however it ends. The test itself keeps its process alive: an idle pool does not, and what a worker says of
// its own accord may come when the pool is idle already.
import { test as nodeTest } from 'node:test'
import { Pool } from 'lido'

const limitMs = 60_000

export function test(title, ...rest) {
  const body = rest.pop()
  nodeTest(title, { timeout: limitMs, ...rest[0] }, t => {
    const alive = setInterval(() => {}, limitMs)
    t.after(() => clearInterval(alive))
    const open = options => {
      const pool = new Pool(options)
      t.after(() => pool.destroy())
      return pool
    }
    return body(open, t)
  })
}
