// One way of deriving the keys, in a process of its own. main.js starts it and gets the figures.

import { Pool } from 'lido'
import { runLanes } from '../shared/lanes.js'
import { meetParent, tellParent } from '../shared/parent.js'
import { atWorkPercent } from '../shared/worth.js'
import { deriveAsync, deriveSync } from './derive.js'

const { form, isPooled, count, lanes, cost, maxWorkers } = await meetParent()
const forms = { deriveSync, deriveAsync }
const password = { password: 'correct horse battery staple', salt: 'a salt of one user', cost }

if (isPooled) {
  const filename = new URL('./derive.js', import.meta.url)
  const pool = new Pool({ filename, name: form, minWorkers: maxWorkers, maxWorkers })
  await measure(() => pool.run(password), pool)
  await pool.close()
} else {
  await measure(() => forms[form](password))
}

async function measure(work, pool = null) {
  await runLanes({ count: lanes, lanes, work })
  const figures = await runLanes({ count, lanes, work })
  tellParent({ kind: 'figures', figures: { ...figures, atWorkPercent: atWorkPercent(pool) } })
}
