// More seeds. They have their own file, so that both files run in parallel. `main.js --seeds N --from M` runs other seeds.
import { test } from 'node:test'
import { testSeeds } from './test-seeds.js'

const COUNT = 2_000

test(`the pool breaks no rule in the next ${COUNT} seeds`, async t => {
  t.diagnostic(await testSeeds(2_001, COUNT))
})
