import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { repeatWrites } from './job-writes.js'

const names = ['moveToCompleted', 'moveToFailed', 'moveToWait', 'moveToDelayed'] as const

describe('the writes at the end of a job', () => {
  const interruption = () => Object.assign(new Error('terminating connection'), { code: '57P01' })
  const gone = () => Object.assign(new Error('Job 1 is not in the active state.'), { code: -3 })

  /** A job whose writes have these results, one after the other. */
  function makeJob(results: unknown[], state: string, queue = {}) {
    const written: string[] = []
    const write = (name: string) => async () => {
      written.push(name)
      const result = results.shift()
      if (result instanceof Error) throw result
      return result
    }
    const job: any = {
      id: '1',
      opts: {},
      queue,
      stacktrace: ['first'],
      getState: async () => state,
    }
    for (const name of names) job[name] = write(name)
    repeatWrites(job as never, 0)
    return { job, written }
  }

  for (const name of names) {
    test(`${name}() is repeated after an interruption`, async () => {
      const { job, written } = makeJob(
        [interruption(), new Error('OOM command not allowed'), 'next'],
        'active',
      )
      assert.equal(await job[name](), 'next')
      assert.deepEqual(written, [name, name, name])
    })
  }

  test('a result that the server has already is not written again', async () => {
    const { job } = makeJob([interruption(), gone()], 'completed')
    assert.equal(await job.moveToCompleted(), undefined)
  })

  test('another error of a write is not hidden', async () => {
    const { job, written } = makeJob([gone(), new Error('too deep')], 'active')
    await assert.rejects(job.moveToCompleted(), { code: -3 })
    await assert.rejects(job.moveToFailed(), /too deep/)
    assert.equal(written.length, 2)
  })

  test('a job does not fail when a closing host stops repeating the write of its result', async () => {
    const { job, written } = makeJob([interruption()], 'active', { closing: Promise.resolve() })
    const error = await job.moveToCompleted().catch((error: Error) => error)
    assert.match(error.message, /does not know how job 1 ended, because the server starts or stops/)
    await assert.rejects(job.moveToFailed(error), error)
    assert.deepEqual(written, ['moveToCompleted'])
  })
})
