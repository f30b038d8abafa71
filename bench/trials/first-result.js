// P11: how long a program waits for the package, and for the first result of a new pool. Fresh processes each time; that of
// the import has loaded nothing before, as what a package needs and this one has is not counted.
import { strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const importPath = fileURLToPath(new URL('../import-process.js', import.meta.url))

export async function takeTurn(contestant) {
  const importMs = contestant.packageName === null ? null : await timeImport(contestant.packageName)

  // Loads the adapter without its pool: what it imports is loaded already.
  const start = await contestant.prepare()
  const startedAt = performance.now()
  const pool = await start({ handlerName: 'echo', workers: 1 })
  strictEqual(await pool.run(7), 7)
  const firstResultMs = performance.now() - startedAt
  return { importMs, firstResultMs }
}

async function timeImport(packageName) {
  const { stdout } = await promisify(execFile)(process.execPath, [importPath, packageName])
  return Number(stdout)
}
