// Every scenario can fail. Pools that are wrong in the simplest ways pass none; a pool that leaks passes no scenario about
// leaks.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openCorpus } from './harness/corpus.js'
import { judge } from './harness/judge.js'
import { ok, skipped } from './harness/verdicts.js'

const corpus = openCorpus()

async function passed(poolName, ids, environment) {
  const left = [...ids]
  const kept = []
  const worker = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      const scenario = await corpus.load(id)
      const { verdict } = await judge(scenario, { poolName, environment })
      if (verdict === ok) kept.push(id)
    }
  }
  // They mostly wait.
  await Promise.all([worker(), worker(), worker(), worker()])
  return kept
}

describe('no scenario is passed', () => {
  const quick = { FAULT_PATIENCE: '0.03' }

  // Each scenario meets one of them; all of them would take minutes.
  const wrong = ['silent', 'agreeing', 'refusing']

  for (const [share, poolName] of wrong.entries()) {
    test(`by the pool that is ${poolName}, whatever it is asked`, async () => {
      const ids = corpus.ids.filter((_, index) => index % wrong.length === share)
      assert.deepEqual(await passed(poolName, ids, quick), [])
    })
  }
})

test('no scenario about leaks is passed by a pool that leaks', async () => {
  const ids = corpus.ids.filter(id => id.startsWith('leak/'))
  assert.deepEqual(await passed('leaking', ids), [])
})

test('a scenario that breaks off is a crash, and one without an end hangs', async () => {
  const scenario = await corpus.load('worker-death/exit-in-a-task')
  const crash = await judge(scenario, { poolName: 'no-such-pool' })
  assert.equal(crash.verdict, 'CRASH')
  const hang = await judge({ ...scenario, limitMs: 1 }, { poolName: 'silent' })
  assert.equal(hang.verdict, 'HANG')
  assert.notEqual(hang.verdict, skipped)
})
