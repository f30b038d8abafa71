// The programs in README.md and docs/reference/pool.md, typed in as they stand there.
import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { answer, node, printed, root, run, write } from './installed.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const reference = readFileSync(join(root, 'docs', 'reference', 'pool.md'), 'utf8')

/** The code blocks of a page, in order, without the indentation of the list they stand in. */
function codeBlocks(page) {
  return [...page.matchAll(/^( *)```[jt]s\n(.*?)^ *```$/gms)].map(([, indent, code]) =>
    code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

function blockWith(page, words) {
  const found = codeBlocks(page).filter(code => code.includes(words))
  assert.equal(found.length, 1, `${found.length} code blocks with '${words}'`)
  return found[0]
}

describe('the start', () => {
  test('runs as it is typed in, in an empty folder', async () => {
    const files = codeBlocks(readme).flatMap(code => {
      const name = /^\/\/ (\w+\.m?js)\b/.exec(code)?.[1]
      return name === undefined ? [] : [[name, code]]
    })
    assert.equal(files.length, 2)
    for (const [name, code] of files) write(name, code)
    const expected = scryptSync('secret', 'salt', 64).toString('hex')
    assert.equal(printed(await node(files[1][0])), expected)
  })

  test('of the reference runs too', async () => {
    write('handler.js', 'export default value => value + 1\n')
    const program = `const payload = 41\n${blockWith(reference, "import { Pool, move } from 'lido'")}\nconsole.log(result)`
    assert.equal(printed(await run('reference.mjs', program)), '42')
  })
})

describe('the loop with back-pressure', () => {
  for (const [page, name] of [
    [readme, 'README.md'],
    [reference, 'pool.md'],
  ]) {
    test(`of ${name} runs every row and keeps few waiting`, async () => {
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
      // Without a limit the pool's two slots are the measure.
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

test('the ways README and piscina.md name to get the class of Piscina work as they are written', async () => {
  const pages = [readme, readFileSync(join(root, 'docs', 'piscina.md'), 'utf8')]
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
