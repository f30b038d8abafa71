// A worker that reaches its heap limit costs its task only. In processes of their own: some Nodes end the process.
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { InvalidOptionError, Pool } from 'lido'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'

test('a task that exceeds the heap limit is told so; the process lives and waiting tasks run', async () => {
  const { output, errors, exitCode, signal } = await runProgram(`
    const resourceLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 }
    const pool = new Pool({ filename: handler('hungry.js'), minThreads: 1, maxThreads: 1, resourceLimits })
    const [hungry, waiting] = await Promise.allSettled([pool.run(), pool.run('waiting', { name: 'fine' })])
    const { name, code, workerId } = hungry.reason
    console.log(JSON.stringify({ name, code, workerId, waiting: waiting.value }))
    await pool.close()
  `)
  assert.deepEqual([exitCode, signal], [0, null], errors)
  const expected = {
    name: 'WorkerMemoryError',
    code: 'ERR_WORKER_OUT_OF_MEMORY',
    workerId: 1,
    waiting: 'waiting',
  }
  assert.deepEqual(JSON.parse(output), expected)
})

test('six such deaths on two workers: every task settles, good tasks run between', async () => {
  const { output, errors, exitCode, signal } = await runProgram(`
    const resourceLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 }
    const pool = new Pool({ filename: handler('hungry.js'), minThreads: 2, maxThreads: 2, resourceLimits })
    for (let round = 0; round < 3; round++) {
      const calls = [pool.run(), pool.run(round, { name: 'fine' }), pool.run()]
      const [first, good, second] = await Promise.allSettled(calls)
      console.log(first.reason.code, good.value, second.reason.code)
    }
    await pool.destroy()
  `)
  assert.deepEqual([exitCode, signal], [0, null], errors)
  const memory = 'ERR_WORKER_OUT_OF_MEMORY'
  assert.equal(output, [0, 1, 2].map(round => `${memory} ${round} ${memory}\n`).join(''))
})

test('a process that may not write every file dies of its heap limit, not of reporting it', async () => {
  const flag =
    Number(process.versions.node.split('.')[0]) >= 24 ? '--permission' : '--experimental-permission'
  const { output, errors } = await runProgram(
    `const resourceLimits = { maxOldGenerationSizeMb: 24 }
     const pool = new Pool({ filename: handler('hungry.js'), backend: 'process', maxThreads: 1, resourceLimits })
     const { code, signal } = await pool.run().catch(error => error)
     console.log(code, signal)
     await pool.close()`,
    { nodeArguments: [flag, '--allow-fs-read=*', `--allow-fs-write=${tmpdir()}`, '--allow-child-process'] },
  )
  assert.equal(output, 'ERR_LIDO_WORKER_EXIT SIGABRT\n', errors)
})

test('limits with which Node would end the process are refused, and name the option', () => {
  for (const [limit, value] of [
    ['stackSizeMb', 0.2],
    ['stackSizeMb', Number.NaN],
    ['stackSizeMb', Number.POSITIVE_INFINITY],
    ['maxOldGenerationSizeMb', 1],
    ['maxOldGenerationSizeMb', '64'],
  ]) {
    assert.throws(
      () => new Pool({ filename: handler('echo.js'), resourceLimits: { [limit]: value } }),
      error => error instanceof InvalidOptionError && error.message.includes(limit),
    )
  }
})
