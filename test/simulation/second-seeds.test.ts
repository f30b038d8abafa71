// As the first seeds; a file of its own, so that both run side by side. Seeds that nobody has seen are tried by hand, with
// `main.js --seeds N --from M`: what they find is mended, and stays found.
import { test } from 'node:test'
import { testSeeds } from './test-seeds.js'

const COUNT = 10_000

test(`every promise is kept in the next ${COUNT} seeds`, async t => {
  t.diagnostic(await testSeeds(10_001, COUNT))
})
