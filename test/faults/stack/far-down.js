// Calls `run()` so many frames above the end of the stack, from none on. Says how many calls failed, how many were answered, and
// after which the pool counts tasks that it has not.
import { Pool } from 'lido'
import { handler } from '../../helpers/handler.js'
import { callFarDown } from './call-far-down.js'

const mostFrames = 200
const options = { filename: handler('echo.js'), maxThreads: 1, ...JSON.parse(process.argv[2]) }
// What fails at the end of the stack may fail before its caller has hold of it.
process.on('unhandledRejection', () => {})

const pool = new Pool(options)
const call = () => pool.run('here')
await call()

const found = { failed: 0, answered: 0, leftover: null }
for (let frames = 0; frames < mostFrames && found.leftover === null; frames++) {
  const farDown = callFarDown(frames, call) ?? Promise.reject(new RangeError())
  if ((await farDown.catch(() => 'failed')) === 'here') found.answered++
  else found.failed++
  const next = call()
  const { waiting, inFlight, accepted, completed } = pool.stats().tasks
  if (waiting + inFlight === 1 && accepted === completed + 1) await next
  else {
    found.leftover = { frames, waiting, inFlight, accepted, completed }
    next.catch(() => {})
  }
}
await (found.leftover === null ? pool.close() : pool.destroy())
process.stdout.write(JSON.stringify(found))
