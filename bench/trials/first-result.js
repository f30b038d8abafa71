// Bar P11: measures the import of the package and the time from a new pool to its first result, in fresh processes.
// The import has a process of its own: modules that this process already loaded would make it look faster.
import { strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const importPath = fileURLToPath(new URL('../import-process.js', import.meta.url))

export async function takeTurn(contestant) {
  const importMs = contestant.packageName === null ? null : await timeImport(contestant.packageName)

  // Loads the modules before the clock starts.
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
