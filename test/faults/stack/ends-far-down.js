// Asks so many frames above the end of the stack, from none on, for what a pool does beside running a task. Says how often it
// failed, how often not, and after which a pool could not do it, run a task or be closed.
import { once } from 'node:events'
import { Pool } from 'lido'
import { handler } from '../../helpers/handler.js'
import { callFarDown } from './call-far-down.js'

const mostFrames = 300
const [options, step] = JSON.parse(process.argv[2])
const deeds = {
  close: pool => pool.close(),
  destroy: pool => pool.destroy(),
  room: pool => pool.room(),
  recycle: pool => pool.recycle(),
  terminate: pool => pool.workers[0].terminate(),
  start: pool => pool.run('here'),
}
process.on('unhandledRejection', () => {})

async function openUsed(name) {
  const pool = new Pool({
    filename: handler('echo.js'),
    minThreads: 0,
    maxThreads: 1,
    maxQueue: 1,
    ...options,
  })
  await pool.run('first')
  if (name === 'start') await pool.workers[0].terminate()
  return pool
}

/** Rejects where the pool does not serve, or does not close. */
async function serveAndClose(pool, isOver) {
  const late = AbortSignal.timeout(20_000)
  if (!isOver) {
    await pool.room({ signal: late })
    await pool.run('here', { signal: late })
  }
  await Promise.race([pool.close(), once(late, 'abort').then(() => Promise.reject(late.reason))])
}

const found = {}
for (const [name, deed] of Object.entries(deeds)) {
  const on = pool => () => deed(pool)
  const first = await openUsed(name)
  await on(first)()
  await first.close()
  found[name] = { failed: 0, done: 0, stuck: [] }
  for (let frames = 0; frames < mostFrames && found[name].stuck.length === 0; frames += step) {
    const pool = await openUsed(name)
    const farDown = callFarDown(frames, on(pool)) ?? Promise.reject(new RangeError())
    const isDone = await farDown.then(() => true).catch(() => false)
    found[name][isDone ? 'done' : 'failed']++
    const isOver = isDone && (name === 'close' || name === 'destroy')
    await serveAndClose(pool, isOver).catch(problem => found[name].stuck.push([frames, problem.message]))
  }
}
process.stdout.write(JSON.stringify(found))
process.exit()
