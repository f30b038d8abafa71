// A file that makes a pool of itself while a worker loads it: the mistake of a first day, and it must end.
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
    for (const [name, source] of Object.entries(others)) await writeFile(join(folder, name), source)
    const filename = join(folder, 'program.mjs')
    await writeFile(filename, text)
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

test('a module that makes a pool of itself is told so, and starts no workers in workers', async () => {
  const { code, output } = await runProgram(`
    import { Pool } from 'lido'
    const pool = new Pool({ filename: import.meta.url, maxThreads: 1 })
    export default value => value
    await pool.run(1)
  `)
  assert.equal(code, 1)
  assert.match(output, /which this worker is just loading/)
  assert.match(output, /isWorkerThread/)
})

/** Makes a pool of the next of so many, while it is loaded; where nobody stops that, it ends after some rounds. */
const member = (index, size, options, call) => `
  import { appendFileSync, readFileSync } from 'node:fs'
  import { Pool } from 'lido'
  const loads = new URL('loads', import.meta.url)
  appendFileSync(loads, 'x')
  const filename = new URL('member-${(index + 1) % size}.mjs', import.meta.url)
  export default value => value
  if (readFileSync(loads).length <= 3 * ${size}) await new Pool(${options}).run(1${call})
`

for (const backend of ['thread', 'process']) {
  for (const [kind, options, call] of [
    ['of the file', `{ backend: '${backend}', minThreads: 0, maxThreads: 1, filename }`, ''],
    ['for a call with the file', `{ backend: '${backend}', minThreads: 0, maxThreads: 1 }`, ', { filename }'],
  ]) {
    for (const size of [2, 3]) {
      test(`${size} files that make pools ${kind} after them, in a circle, are told so where it closes (${backend})`, async () => {
        const members = Array.from({ length: size }, (_, index) => [
          `member-${index}.mjs`,
          member(index, size, options, call),
        ])
        const { code, output } = await runProgram(
          `
            import { readFileSync } from 'node:fs'
            import { Pool } from 'lido'
            const filename = new URL('member-0.mjs', import.meta.url)
            const pool = new Pool({ filename, maxThreads: 1 })
            let problem = await pool.run(1).then(() => ({ message: 'it went round' }), reason => reason)
            while (problem.cause !== undefined) problem = problem.cause
            console.log(readFileSync(new URL('loads', import.meta.url)).length, problem.message)
            await pool.destroy()
          `,
          Object.fromEntries(members),
        )
        assert.equal(code, 0, output)
        assert.match(output, /which this worker is just loading, or the one that started it/)
        assert.equal(Number.parseInt(output, 10), size)
      })
    }
  }
}

test('a file that is loaded may be loaded again by what it has started', async () => {
  const { code, output } = await runProgram(
    `
      import { Pool } from 'lido'
      const pool = new Pool({ filename: new URL('first.mjs', import.meta.url), maxThreads: 1 })
      console.log(await pool.run('down'))
      await pool.close()
    `,
    {
      'first.mjs': `
        import { Pool } from 'lido'
        const second = new Pool({ filename: new URL('second.mjs', import.meta.url), minThreads: 1, maxThreads: 1 })
        await second.run('up')
        export default value => second.run(value)
        export const last = value => value
      `,
      'second.mjs': `
        import { Pool } from 'lido'
        export default async value => {
          if (value === 'up') return value
          const first = new Pool({ filename: new URL('first.mjs', import.meta.url), name: 'last', maxThreads: 1 })
          try {
            return await first.run(value)
          } finally {
            await first.close()
          }
        }
      `,
    },
  )
  assert.deepEqual({ code, output }, { code: 0, output: 'down\n' })
})

test('with the question asked, one file holds the pool and its handler', async () => {
  const { code, output } = await runProgram(`
    import { Pool } from 'lido'
    import { isWorkerThread } from 'lido/worker'
    export default value => value * 2
    if (!isWorkerThread) {
      const pool = new Pool({ filename: import.meta.url, maxThreads: 1 })
      console.log(await pool.run(21))
      await pool.close()
    }
  `)
  assert.deepEqual({ code, output }, { code: 0, output: '42\n' })
})

test('a handler may make a pool of its own file once it is loaded', async () => {
  const { code, output } = await runProgram(`
    import { Pool } from 'lido'
    import { isWorkerThread } from 'lido/worker'
    export default async depth => {
      if (depth === 0) return 'bottom'
      const inner = new Pool({ filename: import.meta.url, maxThreads: 1 })
      try {
        return await inner.run(depth - 1)
      } finally {
        await inner.close()
      }
    }
    if (!isWorkerThread) {
      const pool = new Pool({ filename: import.meta.url, maxThreads: 1 })
      console.log(await pool.run(2))
      await pool.close()
    }
  `)
  assert.deepEqual({ code, output }, { code: 0, output: 'bottom\n' })
})
