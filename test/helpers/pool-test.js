// A test with a time limit. `open(options)` creates a pool that is destroyed when the test ends, also after a failure. The
// interval keeps the process alive, because an idle pool does not, and an idle worker may still emit an event.
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
