// pool.ready() waits for the workers and for the setup of their module.
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PoolClosedError, RestartLimitError, WorkerStartError } from 'lido'
import Piscina from 'lido/piscina'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { rejection } from '../helpers/rejection.js'

const backends = { threads: {}, processes: { backend: 'process' }, 'the host thread': { backend: 'inline' } }

/** A module whose `setup` writes a line, waits for a line 'go', and sets what its handler returns. */
const withSetup = `
import { appendFileSync, readFileSync } from 'node:fs'
const journal = new URL('./journal', import.meta.url)
let state = 'not set up'
export async function setup() {
  appendFileSync(journal, 'setup\\n')
  while (!readFileSync(journal, 'utf8').includes('go')) await new Promise(resolve => setTimeout(resolve, 5))
  state = 'set up'
}
export default () => state
`

function openWithSetup(open, t, options) {
  const folder = openFolder(t)
  const journal = join(folder.path, 'journal')
  folder.write('journal', '')
  const filename = folder.write('handler.mjs', withSetup)
  return {
    pool: open({ filename, ...options }),
    letGo: () => appendFileSync(journal, 'go\n'),
    setups: () => readFileSync(journal, 'utf8').split('setup').length - 1,
  }
}

for (const [title, options] of Object.entries(backends)) {
  test(`ready() and the first task wait for setup() of every worker on ${title}`, async (open, t) => {
    const { pool, letGo, setups } = openWithSetup(open, t, { minWorkers: 2, maxWorkers: 2, ...options })
    const settled = []
    const ready = pool.ready().then(() => settled.push('ready'))
    const result = pool.run(1).then(value => settled.push(value))
    const expected = options.backend === 'inline' ? 1 : 2
    while (setups() < expected) await new Promise(resolve => setTimeout(resolve, 5))
    assert.deepEqual(settled, [])
    letGo()
    await Promise.all([ready, result])
    assert.deepEqual([...settled].sort(), ['ready', 'set up'])
    assert.equal(pool.workers.filter(worker => worker.state !== 'spawning').length, 2)
    await pool.ready()
    assert.equal(setups(), expected)
  })

  test(`a setup() that fails rejects ready() and tasks with its error on ${title}`, async (open, t) => {
    const folder = openFolder(t)
    const filename = folder.write(
      'handler.mjs',
      "export const setup = () => { throw new RangeError('no model') }",
    )
    const pool = open({ filename, minWorkers: 1, maxWorkers: 1, ...options })
    const [ready, task] = await Promise.all([rejection(pool.ready()), rejection(pool.run(1))])
    for (const error of [ready, task]) {
      assert.ok(error instanceof WorkerStartError)
      assert.equal(error.cause.message, 'no model')
    }
  })
}

test('a setup() of the file of a single call runs before that call, and again after a failure', async (open, t) => {
  const folder = openFolder(t)
  const filename = folder.write(
    'handler.mjs',
    "let runs = 0\nexport const setup = () => { if (++runs === 1) throw new Error('busy') }\nexport default () => runs",
  )
  const pool = open({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1 })
  const error = await rejection(pool.run(1, { filename }))
  assert.equal(error.cause.message, 'busy')
  assert.equal(await pool.run(1, { filename }), 2)
  assert.equal(await pool.run(1, { filename }), 2)
})

test('a setup() that exceeds setupTimeout is a failed start that names the option', async (open, t) => {
  const { pool } = openWithSetup(open, t, { minWorkers: 1, maxWorkers: 1, setupTimeout: 20 })
  const error = await rejection(pool.ready())
  assert.ok(error instanceof WorkerStartError)
  assert.match(error.message, /setup\(\) did not finish within 20 ms.*setupTimeout/)
})

test('close() during setup() rejects ready()', async (open, t) => {
  const { pool, letGo } = openWithSetup(open, t, { minWorkers: 1, maxWorkers: 1 })
  const ready = rejection(pool.ready())
  const closed = pool.close()
  assert.ok((await ready) instanceof PoolClosedError)
  letGo()
  await closed
  assert.ok((await rejection(pool.ready())) instanceof PoolClosedError)
})

test('ready() rejects while the pool starts no workers, and resolves after the file is fixed', async (open, t) => {
  const folder = openFolder(t)
  const filename = folder.write('handler.mjs', 'throw new Error("broken")')
  const pool = open({ filename, minWorkers: 1, maxWorkers: 1, restart: { failures: 2, pause: 60_000 } })
  assert.ok((await rejection(pool.ready())) instanceof WorkerStartError)
  assert.ok((await rejection(pool.ready())) instanceof WorkerStartError)
  assert.ok((await rejection(pool.ready())) instanceof RestartLimitError)
  folder.write('handler.mjs', 'export default value => value')
  await pool.reload()
  await pool.ready()
  assert.equal(await pool.run(1), 1)
})

test('ready() resolves at once without a minimum, and follows resize()', async open => {
  const pool = open({ filename: handler('echo.js'), minWorkers: 0, maxWorkers: 3 })
  await pool.ready()
  assert.equal(pool.workers.length, 0)
  pool.resize({ minWorkers: 3 })
  await pool.ready()
  assert.equal(pool.workers.length, 3)
})

test('lido/piscina treats an export named setup as a handler', async (_open, t) => {
  const folder = openFolder(t)
  const filename = folder.write(
    'handler.mjs',
    'let runs = 0\nexport const setup = () => ++runs\nexport default () => runs',
  )
  const piscina = new Piscina({ filename, minThreads: 1, maxThreads: 1 })
  assert.equal(await piscina.run(1), 0)
  assert.equal(await piscina.run(1, { name: 'setup' }), 1)
  await piscina.close()
})
