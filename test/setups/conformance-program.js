// Runs one test of the conformance suite, or prints the titles, in a runtime without `node:test`.
//   bun test/setups/conformance-program.js thread 'payloads and results' 'a title'

import { Pool } from 'lido'
import { Journal } from '../conformance/journal.js'
import { promises } from '../conformance/promises/all.js'
import { handler } from '../helpers/handler.js'

const limitMs = 30_000
const [backend, group, title] = process.argv.slice(2)
const cleanups = []
const t = { after: cleanup => cleanups.push(cleanup), diagnostic() {} }

if (backend === undefined) {
  console.log(
    JSON.stringify(
      Object.entries(promises).flatMap(([name, list]) => Object.keys(list).map(found => [name, found])),
    ),
  )
} else {
  const limit = setTimeout(() => {
    console.log(`FAILED: no end after ${limitMs} ms`)
    process.exit(1)
  }, limitMs)
  try {
    await promises[group][title]({ backend, t, journal: new Journal(t), open })
    console.log('PASSED')
  } catch (failure) {
    console.log(`FAILED: ${failure?.stack ?? failure}`)
  }
  for (const cleanup of cleanups.reverse()) await cleanup()
  clearTimeout(limit)
}

/** Opens a pool of one worker, unless the options say otherwise. */
function open(options = {}) {
  const pool = new Pool({
    filename: handler('conformant.js'),
    minWorkers: 1,
    maxWorkers: 1,
    backend,
    ...options,
  })
  cleanups.push(() => pool.destroy())
  return pool
}
