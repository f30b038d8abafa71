import assert from 'node:assert/strict'
import { test } from '../helpers/pool-test.js'
import { holdAgainst } from './conformance.js'
import { Journal } from './journal.js'

holdAgainst('inline')

test('a module that has loaded when its worker is gone is torn down by the next that holds it, once', async (open, t) => {
  const journal = new Journal(t)
  const { journal: path, gate } = journal.task('slow')
  const filename = journal.write(
    'slow.mjs',
    `import { appendFileSync, existsSync } from 'node:fs'
     const note = line => appendFileSync(${JSON.stringify(path)}, line + '\\n')
     note('loading')
     while (!existsSync(${JSON.stringify(gate)})) await new Promise(resolve => setTimeout(resolve, 2))
     export default value => value
     export const teardown = () => note('torn down')`,
  )
  const options = { filename, minThreads: 1, maxThreads: 1, backend: 'inline' }
  const first = open(options)
  await journal.lines(1)
  await first.destroy()
  journal.open()
  const second = open(options)
  assert.equal(await second.run(1), 1)
  assert.deepEqual(journal.written, ['loading'])
  await second.close()
  assert.deepEqual(journal.written, ['loading', 'torn down'])
})
