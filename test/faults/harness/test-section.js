// The tests of one section of the fault corpus. lido must survive each fault on threads. On the other backends the quick faults
// run whose result can differ there. The public table uses the same files and the same judge.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCorpus } from './corpus.js'
import { judge } from './judge.js'
import { ok, skipped, unsupported } from './verdicts.js'

/** A process takes its time to start: it meets those about what only it does in its own way. */
const processSections = ['worker-death', 'load-failure', 'cloning', 'shutdown', 'process', 'resources']

function isOfSuite({ backends, isHeavy, isLong }, section, backend) {
  if (backend === 'thread') return true
  if (!backends.includes(backend)) return false
  if (isHeavy || isLong) return false
  return backend === 'inline' || processSections.includes(section)
}

export async function testSection(section) {
  const corpus = openCorpus()
  for (const id of corpus.ids.filter(id => id.startsWith(`${section}/`))) {
    const scenario = await corpus.load(id)
    for (const backend of ['thread', 'process', 'inline']) {
      if (!isOfSuite(scenario, section, backend)) continue
      const title = backend === 'thread' ? scenario.title : `${backend}: ${scenario.title}`
      test(title, async t => {
        const { verdict, why } = await judge(scenario, { poolName: 'lido', backend })
        if ([skipped, unsupported].includes(verdict)) return t.skip(why)
        assert.equal(verdict, ok, `${id}: ${why}`)
      })
    }
  }
}
