// A file that creates a pool with itself as handler file. Without isWorkerThread each worker would create another pool.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))

async function runProgram(text, others = {}) {
  const folder = await mkdtemp(join(here, 'self-made-'))
  try {
    const filename = join(folder, 'program.mjs')
    await writeFile(filename, text)
    for (const [name, other] of Object.entries(others)) await writeFile(join(folder, name), other)
    const child = spawn(process.execPath, [filename], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', chunk => {
        output += chunk
      })
    }
    const [code] = await once(child, 'close')
    return { code, output }
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('a file that creates a pool of itself without isWorkerThread fails with an error that says so', async () => {
  const { code, output } = await runProgram(`
    import { Pool } from 'lido'
    const pool = new Pool({ filename: import.meta.url, maxWorkers: 1 })
    export default value => value
    await pool.run(1)
  `)
  assert.equal(code, 1)
  assert.match(output, /which this worker is loading now/)
  assert.match(output, /isWorkerThread/)
})

test('a handler may import the file of the program, as in the builds of bundlers', async () => {
  const { code, output } = await runProgram(
    `
    import { Pool } from 'lido'
    export const double = value => value * 2
    const pool = new Pool({ module: () => import('./work.mjs'), base: import.meta.url, maxWorkers: 1 })
    export const run = value => pool.run(value)
    if (process.argv[1] === import.meta.filename) {
      console.log(await run(21))
      console.log(await run(null).catch(error => error.message))
      await pool.close()
    }
  `,
    {
      'work.mjs': `import { double, run } from './program.mjs'
    export default value => value === null ? run(1) : double(value)`,
    },
  )
  assert.equal(code, 0, output)
  assert.match(output, /LIDO_PROGRAM_IN_WORKER/)
  const [result, message] = output.split('\n').filter(line => !/node:|trace-warnings/.test(line))
  assert.equal(result, '42')
  assert.match(
    message,
    /handler's file of this pool is .*work\.mjs, which this worker is loading now.*lido-bundle/,
  )
})

test('two handlers that import the program start no further workers', async () => {
  const { code, output } = await runProgram(
    `
    import { threadId } from 'node:worker_threads'
    import { Pool } from 'lido'
    export const double = value => value * 2
    const one = new Pool({ module: () => import('./one.mjs'), base: import.meta.url, maxWorkers: 1 })
    const two = new Pool({ module: () => import('./two.mjs'), base: import.meta.url, maxWorkers: 1 })
    console.log('program', threadId)
    // Calls of a worker reject, or run in a worker whose calls reject.
    if (threadId > 0) Promise.allSettled([one.run(1), two.run(1)])
    else {
      console.log('results', await one.run(1), await two.run(2))
      await Promise.all([one.close(), two.close()])
    }
  `,
    Object.fromEntries(
      ['one', 'two'].map(name => [
        `${name}.mjs`,
        "import { double } from './program.mjs'\nexport default double\n",
      ]),
    ),
  )
  assert.equal(code, 0, output)
  assert.match(output, /results 2 4/)
  // The program, a worker for each pool, and in each of them one worker of the other pool.
  const programs = output.match(/program \d+/g)
  assert.ok(programs.length <= 5, output)
})

test('a file may hold a pool and its handler when it checks isWorkerThread', async () => {
  const { code, output } = await runProgram(`
    import { Pool } from 'lido'
    import { isWorkerThread } from 'lido/worker'
    export default value => value * 2
    if (!isWorkerThread) {
      const pool = new Pool({ filename: import.meta.url, maxWorkers: 1 })
      console.log(await pool.run(21))
      await pool.close()
    }
  `)
  assert.deepEqual({ code, output }, { code: 0, output: '42\n' })
})

test('a handler may create a pool of its own file after the file has loaded', async () => {
  const { code, output } = await runProgram(`
    import { Pool } from 'lido'
    import { isWorkerThread } from 'lido/worker'
    export default async depth => {
      if (depth === 0) return 'bottom'
      const inner = new Pool({ filename: import.meta.url, maxWorkers: 1 })
      try {
        return await inner.run(depth - 1)
      } finally {
        await inner.close()
      }
    }
    if (!isWorkerThread) {
      const pool = new Pool({ filename: import.meta.url, maxWorkers: 1 })
      console.log(await pool.run(2))
      await pool.close()
    }
  `)
  assert.deepEqual({ code, output }, { code: 0, output: 'bottom\n' })
})
