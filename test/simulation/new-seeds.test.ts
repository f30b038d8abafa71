// As the first seeds, but others in each run: what is wrong and rare is found some day.
import { test } from 'node:test'
import { testSeeds } from './test-seeds.js'

const COUNT = 10_000

test(`every promise is kept in ${COUNT} seeds that nobody has seen`, async t => {
  const from = 2 ** 20 + Math.floor(Math.random() * 2 ** 30)
  t.diagnostic(`seeds from ${from}`)
  t.diagnostic(await testSeeds(from, COUNT))
})
