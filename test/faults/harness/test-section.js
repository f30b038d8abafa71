// The suite of one section: lido on threads must keep every fault of it. The public table is made of the same files by
// the same judge.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCorpus } from './corpus.js'
import { judge } from './judge.js'
import { ok, skipped, unsupported } from './verdicts.js'

export async function testSection(section) {
  const corpus = openCorpus()
  for (const id of corpus.ids.filter(id => id.startsWith(`${section}/`))) {
    const scenario = await corpus.load(id)
    test(scenario.title, async t => {
      const { verdict, why } = await judge(scenario, { poolName: 'lido' })
      if ([skipped, unsupported].includes(verdict)) return t.skip(why)
      assert.equal(verdict, ok, `${id}: ${why}`)
    })
  }
}
