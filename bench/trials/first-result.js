// P11: how long a program waits for the package, and for the first result of a new pool. A fresh process each time.
import { strictEqual } from 'node:assert/strict'

export async function takeTurn(contestant) {
  const importStartedAt = performance.now()
  await contestant.importPackage()
  const importMs = performance.now() - importStartedAt

  // Loads the adapter without its pool: what it imports is loaded already.
  const start = await contestant.prepare()
  const startedAt = performance.now()
  const pool = await start({ handlerName: 'echo', workers: 1 })
  strictEqual(await pool.run(7), 7)
  const firstResultMs = performance.now() - startedAt
  return { importMs, firstResultMs }
}
