// Keeps one way of answering a request, as a server in a process of its own; load.js starts it.

import { Pool } from 'lido'
import { serve } from '../shared/measured-server.js'
import { meetParent } from '../shared/parent.js'
import { sleepAsync, sleepBusy } from './wait.js'

const { kind, isPooled, sleepMs, maxThreads, concurrentTasksPerWorker, idleTimeoutMs } = await meetParent()
const kinds = { sleepAsync, sleepBusy }

if (isPooled) {
  const filename = new URL('./wait.js', import.meta.url)
  const pool = new Pool({
    filename,
    name: kind,
    maxThreads,
    concurrentTasksPerWorker,
    idleTimeout: idleTimeoutMs,
  })
  await serve(() => pool.run(sleepMs), pool)
} else {
  await serve(() => kinds[kind](sleepMs))
}
