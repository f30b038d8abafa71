// A test with a time limit and pools that do not outlive it: `open(options)` makes a pool that is destroyed when the
// test ends, however it ends.
import { test as nodeTest } from 'node:test'
import { Pool } from 'lido'

const limitMs = 60_000

export function test(title, ...rest) {
  const body = rest.pop()
  nodeTest(title, { timeout: limitMs, ...rest[0] }, t => {
    const open = options => {
      const pool = new Pool(options)
      t.after(() => pool.destroy())
      return pool
    }
    return body(open, t)
  })
}
