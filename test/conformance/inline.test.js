import assert from 'node:assert/strict'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'
import { holdAgainst } from './conformance.js'
import { Journal } from './journal.js'

holdAgainst('inline')

test('the next worker runs the teardown of a module that loaded after its worker was destroyed', async (open, t) => {
  const journal = new Journal(t)
  const { journal: path, gate } = journal.task('slow')
  const filename = journal.write(
    'slow.mjs',
    `import { appendFileSync, existsSync } from 'node:fs'
     const note = line => appendFileSync(${JSON.stringify(path)}, line + '\\n')
     note('loading')
     while (!existsSync(${JSON.stringify(gate)})) await new Promise(resolve => setTimeout(resolve, 2))
     export default value => value
     export const teardown = () => note('torn down')`,
  )
  const options = { filename, minWorkers: 1, maxWorkers: 1, backend: 'inline' }
  const first = open(options)
  await journal.lines(1)
  await first.destroy()
  journal.open()
  const second = open(options)
  assert.equal(await second.run(1), 1)
  assert.deepEqual(journal.written, ['loading'])
  await second.close()
  assert.deepEqual(journal.written, ['loading', 'torn down'])
})

const lidoWorker = import.meta.resolve('lido/worker')

/** The source of a handler that waits for its abort and records the reason. */
const listening = path => `import { appendFileSync } from 'node:fs'
  import { context } from '${lidoWorker}'
  const note = line => appendFileSync(${JSON.stringify(path)}, line + '\\n')
  export default payload => payload ?? new Promise(resolve => {
    const { signal } = context
    note('started')
    signal.addEventListener('abort', () => resolve(note(signal.reason)))
  })`

test('an inline handler receives its abort with cancelGrace: 0', async (open, t) => {
  const journal = new Journal(t)
  const filename = journal.write('listening.mjs', listening(journal.path))
  const pool = open({ filename, maxWorkers: 1, backend: 'inline', cancelGrace: 0 })
  const controller = new AbortController()
  const call = rejection(pool.run(undefined, { signal: controller.signal }))
  await journal.lines(1)
  controller.abort('enough')
  assert.equal((await call).reason, 'enough')
  assert.equal(await pool.run(1), 1)
  assert.deepEqual(journal.written, ['started', 'enough'])
})

test('a running inline handler receives an abort when its pool is destroyed', async (open, t) => {
  const journal = new Journal(t)
  const filename = journal.write('listening.mjs', listening(journal.path))
  const pool = open({ filename, maxWorkers: 1, backend: 'inline' })
  const call = rejection(pool.run())
  await journal.lines(1)
  await pool.destroy()
  assert.equal((await call).reason, 'destroyed')
  assert.match(journal.written[1], /AbortError/)
})
