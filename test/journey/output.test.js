// What handlers print: many printing workers, and the option `output: 'pipe'`.
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { backends } from '../helpers/backends.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { startProgram } from '../helpers/program.js'

const filename = handler('printing.js')
const { 'the host thread': _, ...ownedBackends } = backends
const linesOf = output => output.split('\n').filter(line => /^\d+ \d+ x{900}$/.test(line))

for (const [title, options] of Object.entries(ownedBackends)) {
  test(`with output 'pipe', whole lines of all workers arrive, and the streams end, on ${title}`, async open => {
    const pool = open({ filename, minWorkers: 4, maxWorkers: 4, output: 'pipe', ...options })
    const outputs = Promise.all([text(pool.stdout), text(pool.stderr)])
    await Promise.all(Array.from({ length: 8 }, (_, task) => pool.run(task)))
    await pool.run(8, { name: 'printAndExit' }).catch(() => {})
    await pool.run(9, { name: 'printAtTheEnd' })
    await pool.close()
    const [stdout, stderr] = await outputs
    assert.equal(linesOf(stdout).length, 8 * 100)
    assert.equal(linesOf(stderr).length, 8 * 10)
    assert.match(stdout, /^before the end 8$/m)
    assert.match(stdout, /^without a newline 9$/m)
  })

  test(`with output 'pipe', a stream that nobody asks for holds no task, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, output: 'pipe', ...options })
    for (let task = 0; task < 3; task++) assert.equal(await pool.run(task), task)
    await pool.close()
    assert.equal((await text(pool.stdout)).length, 0)
  })

  test(`with output 'pipe', a stream that its reader has left holds no task, on ${title}`, async open => {
    const pool = open({ filename, maxWorkers: 1, output: 'pipe', ...options })
    const { stdout, stderr } = pool
    stderr.resume()
    const tasks = [0, 1, 2].map(task => pool.run(task))
    // The end of the loop destroys the stream.
    for await (const chunk of stdout) if (chunk.length > 0) break
    assert.deepEqual(await Promise.all(tasks), [0, 1, 2])
    await pool.close()
  })

  test(`with output 'pipe', an idle pool does not hold its program, on ${title}`, async () => {
    const { ended } = startProgram(`
      const options = ${JSON.stringify(options)}
      const pool = new Pool({ filename: '${filename}', minWorkers: 2, output: 'pipe', ...options })
      let bytes = 0
      pool.stdout.on('data', chunk => { bytes += chunk.length })
      await pool.run(1)
      process.on('exit', () => console.log(bytes, globalThis.keep === undefined))
      globalThis.keep = pool
    `)
    const { exitCode, output } = await ended
    assert.equal(exitCode, 0)
    assert.match(output, /^9\d\d\d\d /)
  })

  test(`sixteen workers print to a slow pipe without a warning and without a loss, on ${title}`, async () => {
    const { child, ended } = startProgram(`
      const options = ${JSON.stringify(options)}
      const pool = new Pool({ filename: '${filename}', minWorkers: 16, maxWorkers: 16, ...options })
      await Promise.all(Array.from({ length: 32 }, (_, task) => pool.run(task)))
      await pool.close()
      console.log(process.stdout.getMaxListeners())
    `)
    child.stdout.on('data', async () => {
      child.stdout.pause()
      await pause(2)
      child.stdout.resume()
    })
    const { output, errors } = await ended
    assert.doesNotMatch(errors, /MaxListeners/)
    // The lines of processes that share a full pipe may mix.
    assert.equal(output.match(/x/g).length, 32 * 100 * 900)
    assert.equal(errors.match(/x{900}/g).length, 32 * 10)
    assert.match(output, /^10$/m)
  })
}

test("pool.stdout and pool.stderr are null without output 'pipe'", open => {
  const { stdout, stderr } = open({ filename })
  assert.deepEqual({ stdout, stderr }, { stdout: null, stderr: null })
})
