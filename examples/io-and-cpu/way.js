// One way of doing one part of the work, in a process of its own. main.js starts it and gets the figures.

import { Pool } from 'lido'
import { runLanes } from '../shared/lanes.js'
import { meetParent, tellParent } from '../shared/parent.js'
import { fetchOnly, fetchThenSort, sortOnly } from './fetch-and-sort.js'
import { makeListText } from './list.js'

const { part, isPooled, url, length, count, lanes, maxWorkers, concurrentTasksPerWorker } = await meetParent()
const parts = { fetchOnly, sortOnly, fetchThenSort }
const payload = part === 'sortOnly' ? { text: makeListText(length) } : { url }

if (isPooled) {
  const filename = new URL('./fetch-and-sort.js', import.meta.url)
  const pool = new Pool({
    filename,
    name: part,
    minWorkers: maxWorkers,
    maxWorkers,
    concurrentTasksPerWorker,
  })
  await measure(() => pool.run(payload))
  await pool.close()
} else {
  await measure(() => parts[part](payload))
}

async function measure(work) {
  await runLanes({ count: lanes, lanes, work })
  tellParent({ kind: 'figures', figures: await runLanes({ count, lanes, work }) })
}
