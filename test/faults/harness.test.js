// Every scenario of the fault corpus can fail: pools that do nothing right pass none of them.
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
  // Four scenarios run at once, because scenarios mostly wait.
  await Promise.all([worker(), worker(), worker(), worker()])
  return kept
}

describe('fault scenarios', () => {
  const quick = { FAULT_PATIENCE: '0.03' }

  // Each scenario runs with one of these pools. All scenarios with all pools would take minutes.
  const wrong = ['silent', 'agreeing', 'refusing']

  for (const [share, poolName] of wrong.entries()) {
    test(`the ${poolName} pool passes no scenario of its third of the fault corpus`, async () => {
      const ids = corpus.ids.filter((_, index) => index % wrong.length === share)
      assert.deepEqual(await passed(poolName, ids, quick), [])
    })
  }
})

test('the leaking pool passes no leak scenario', async () => {
  const ids = corpus.ids.filter(id => id.startsWith('leak/'))
  assert.deepEqual(await passed('leaking', ids), [])
})

test('the verdict is CRASH for a scenario that throws and HANG for a scenario over its time limit', async () => {
  const scenario = await corpus.load('worker-death/exit-in-a-task')
  const crash = await judge(scenario, { poolName: 'no-such-pool' })
  assert.equal(crash.verdict, 'CRASH')
  const hang = await judge({ ...scenario, limitMs: 1 }, { poolName: 'silent' })
  assert.equal(hang.verdict, 'HANG')
  assert.notEqual(hang.verdict, skipped)
})
