// The process of one contestant: starts the pool that its first argument names, then takes a turn whenever told to.
// Leaves who plays when to main.js.
import { readFileSync } from 'node:fs'
import { cells } from './cells.js'
import { check, measure } from './load.js'

const poolName = process.argv[2]
const { packageName, start } = await import(`./pools/${poolName}.js`)

/** The version of a package as installed, whether or not it exports its package.json. */
function readVersion(name) {
  for (let url = new URL('.', import.meta.resolve(name)); url.pathname !== '/'; url = new URL('..', url)) {
    const manifest = readManifest(url)
    if (manifest?.name === name) return manifest.version
  }
  return 'unknown'
}

function readManifest(folder) {
  try {
    return JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
  } catch {
    return null
  }
}

const pool = await start({ workers: 1 })

async function takeTurn({ cellId, turnWarmUpMs, durationMs }) {
  const cell = cells.find(({ id }) => id === cellId)
  await check(pool.run, cell)
  if (turnWarmUpMs > 0) await measure(pool.run, cell, turnWarmUpMs)
  process.send({ kind: 'result', ...(await measure(pool.run, cell, durationMs)) })
}

async function stop() {
  await pool.stop()
  process.exit()
}

process.on('message', message => (message.kind === 'turn' ? takeTurn(message) : stop()))
process.on('disconnect', () => process.exit())
process.send({ kind: 'ready', version: packageName === null ? null : readVersion(packageName) })
