// One run of the work in a process of its own: without a pool, with `pool.map()`, or with all chunks submitted at once. main.js starts
// it and gets the figures.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { finished } from 'node:stream/promises'
import { Pool } from 'lido'
import { EventLoopDelay } from '../shared/event-loop-delay.js'
import { meetParent, tellParent } from '../shared/parent.js'
import { readChunks } from './dataset.js'

const settings = await meetParent()
const { input, output, chunkBytes, maxWorkers } = settings
const file = createWriteStream(output)
const hash = createHash('sha256')
let chunksRead = 0
let chunksWritten = 0
let mostChunks = 0

const ways = { alone, map, allAtOnce }
await ways[settings.way]()

async function alone() {
  const { default: describePlaces } = await import('./worker.js')
  await measure(async () => {
    for await (const chunk of chunks()) await write(describePlaces(chunk))
  })
}

async function map() {
  const pool = await openPool()
  await measure(() => pool.map(chunks()).forEach(write))
  await pool.close()
}

async function allAtOnce() {
  const pool = await openPool()
  await measure(async () => {
    const results = []
    for await (const chunk of chunks()) results.push(pool.run(chunk))
    for (const text of await Promise.all(results)) await write(text)
  })
  await pool.close()
}

async function openPool() {
  const filename = new URL('./worker.js', import.meta.url)
  const pool = new Pool({ filename, minWorkers: maxWorkers, maxWorkers })
  await pool.ready()
  return pool
}

/** Counts the chunks that were read and not yet written. */
async function* chunks() {
  for await (const chunk of readChunks(input, chunkBytes)) {
    mostChunks = Math.max(mostChunks, ++chunksRead - chunksWritten)
    yield chunk
  }
}

async function write(text) {
  hash.update(text)
  if (!file.write(text)) await once(file, 'drain')
  tellParent({ kind: 'progress', chunksWritten: ++chunksWritten })
}

async function measure(work) {
  const delay = new EventLoopDelay()
  await delay.start()
  const startedAt = performance.now()
  await work()
  const seconds = (performance.now() - startedAt) / 1000
  const loopDelayMs = await delay.stop()
  file.end()
  await finished(file)
  const figures = {
    checksum: hash.digest('hex'),
    seconds,
    loopDelayMs,
    mostChunks,
    peakMib: process.resourceUsage().maxRSS / 1024,
  }
  tellParent({ kind: 'figures', figures })
}
