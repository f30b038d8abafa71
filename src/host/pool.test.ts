// Checks a promise of the engine that no program can see.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TaskCancelledError } from '../shared/errors/pool-errors.js'
import { resolveRun } from './calls/call-terms.js'
import { Pool } from './pool.js'
import { engineOf } from './pool-properties.js'

// Compiled tests are ES modules. They have no `__dirname`, where the published code looks for the files of workers.
Object.assign(globalThis, { __dirname: fileURLToPath(new URL('../../../../dist/cjs', import.meta.url)) })

test('cancel() of a settled task does nothing to the task that has its ticket now', async t => {
  const functions = { wait: (ms: number) => new Promise(resolve => setTimeout(resolve, ms, ms)) }
  const pool = new Pool({ module: functions, name: 'wait', backend: 'inline', maxWorkers: 1 })
  t.after(() => pool.destroy())
  const engine = engineOf(pool)!
  const submit = (ms: number) => {
    let settle!: (answer: unknown) => void
    const answer = new Promise(resolve => {
      settle = resolve
    })
    return { task: engine.submit(resolveRun(ms, undefined, engine.settings, null), settle), answer }
  }
  const first = submit(1)
  assert.equal(await first.answer, 1)
  const second = submit(20)
  engine.cancel(first.task, new TaskCancelledError('too late'))
  assert.equal(second.task.state, 'assigned')
  assert.equal(await second.answer, 20)
})
