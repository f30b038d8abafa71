// The programs in README.md and docs/reference/pool.md run exactly as they are written there.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answer, node, printed, run, write } from './installed.js'
import { codeBlocks, readPage, writePrograms } from './page-programs.js'

const readme = readPage('README.md')
const reference = readPage('docs/reference/pool.md')

function blockWith(page, words) {
  const found = codeBlocks(page).filter(code => code.includes(words))
  assert.equal(found.length, 1, `${found.length} code blocks with '${words}'`)
  return found[0]
}

describe('first programs', () => {
  test('the programs of README.md run in an empty folder', async () => {
    assert.deepEqual(writePrograms(readme, '.'), ['summarize.mjs', 'main.mjs', 'months.mjs'])
    assert.equal(printed(await node('main.mjs')), '{ rows: 1000000, total: 2500000 }')
    const lines = printed(await node('months.mjs')).split('\n')
    assert.ok(lines[0].endsWith(`\r${'█'.repeat(24)} 24 of 24`), lines[0])
    assert.equal(lines[1], '11500000')
  })

  test('the first program of the reference runs', async () => {
    write('handler.js', 'export default value => value + 1\n')
    const program = `const payload = 41\n${blockWith(reference, "import { Pool } from 'lido'")}\nconsole.log(result)`
    assert.equal(printed(await run('reference.mjs', program)), '42')
  })
})

describe('loops with back-pressure', () => {
  for (const [page, name] of [
    [readme, 'README.md'],
    [reference, 'pool.md'],
  ]) {
    test(`the loop with back-pressure in ${name} runs every row and limits the queue`, async () => {
      write('double.mjs', 'export default value => value * 2\n')
      const program = `
        import { Pool } from 'lido'

        async function through(options) {
          const pool = new Pool({ filename: new URL('./double.mjs', import.meta.url), maxWorkers: 2, ...options })
          const seen = { written: 0, sum: 0, problems: [], mostWaiting: 0 }
          async function* countedRows() {
            for (let row = 0; row < 300; row++) {
              seen.mostWaiting = Math.max(seen.mostWaiting, pool.queueSize)
              yield row
            }
          }
          const rows = countedRows()
          const write = result => {
            seen.written++
            seen.sum += result
          }
          const report = error => seen.problems.push(error.message)
          ${blockWith(page, 'pool.room()')}
          await pool.close()
          return seen
        }
        console.log(JSON.stringify([await through({ maxQueue: 5 }), await through({})]))`
      const [bounded, unbounded] = answer(await run('loop.mjs', program))
      const complete = { written: 300, sum: 300 * 299, problems: [] }
      // Without maxQueue, room() limits the queue to the number of slots: two.
      for (const [{ mostWaiting, ...rest }, limit] of [
        [bounded, 5],
        [unbounded, 2],
      ]) {
        assert.deepEqual(rest, complete)
        assert.ok(mostWaiting > 0 && mostWaiting <= limit, `${mostWaiting} waited, of at most ${limit}`)
      }
    })
  }
})

test('the import lines of README.md and from-piscina.md load the Piscina class', async () => {
  const pages = [readme, readPage('docs/guides/from-piscina.md')]
  for (const page of pages) {
    const lines = blockWith(page, "from 'lido/piscina'").trim()
    const imported = /^import Piscina from 'lido\/piscina'/m.exec(lines)?.[0]
    const required = /const Piscina = require\('lido\/piscina'\)/.exec(lines)?.[0]
    const shown = '\nconsole.log(typeof Piscina, Piscina.name, new Piscina({ minThreads: 0 }).queueSize)'
    for (const [file, line] of Object.entries({ 'way.mjs': imported, 'way.cjs': required })) {
      assert.ok(line, lines)
      assert.equal(printed(await run(file, line + shown)), 'function Piscina 0')
    }
  }
})
