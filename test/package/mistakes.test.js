// Common mistakes of new users, and the errors that explain them.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { build } from 'esbuild'
import { answer, node, project, run, write } from './installed.js'

write(
  'handler.mjs',
  `export default value => value
   export const square = value => value * value
   export const settings = { depth: 1 }
   export const give = () => ({ items: [1, { callback() {} }] })`,
)
write('no-default.mjs', 'export const work = value => value\n')
write('no-default.cjs', 'exports.work = value => value\n')
write('no-function.mjs', 'export default 42\n')
write('broken.mjs', 'export default (value => value\n')
write('no-package.mjs', "import 'lido-no-such-package'\nexport default value => value\n")
write('typed.ts', 'export default (value: number): number => value * 2\n')
write('old/package.json', '{ "type": "commonjs" }\n')
write('old/handler.js', 'export default value => value\n')

const invalidOption = ['InvalidOptionError', 'ERR_LIDO_INVALID_OPTION']
const invalidTask = ['InvalidTaskError', 'ERR_LIDO_INVALID_TASK']
const workerStart = ['WorkerStartError', 'ERR_LIDO_WORKER_START']
const notCloneable = ['NotCloneableError', 'ERR_LIDO_NOT_CLONEABLE']
const poolClosed = ['PoolClosedError', 'ERR_LIDO_POOL_CLOSED']

/**
 * For each mistake: the source, the name and code of the error, and its words. `file(name)` is a URL, `one(options)` is a pool
 * of one worker.
 */
const mistakes = {
  'a path in place of the options': [
    `new Pool('./handler.mjs')`,
    invalidOption,
    [/must be an object/, /\{ module: \(\) => import\('\.\/work\.js'\), base: import\.meta\.url \}/],
  ],
  'a URL in place of the options': [
    `new Pool(file('handler.mjs'))`,
    invalidOption,
    [/must be an object/, /\{ module: /, /instance of URL/],
  ],
  'a relative path': [
    `one({ filename: './handler.mjs' })`,
    invalidOption,
    [/'filename'/, /absolute path/, /new URL\('\.\/handler\.mjs', import\.meta\.url\)/],
  ],
  'a path without ./': [
    `one({ filename: 'handler.mjs' })`,
    invalidOption,
    [/'handler\.mjs'/, /cannot be found/, /new URL\(.*import\.meta\.url\)/],
  ],
  'a relative path in a call': [
    `await one().run(1, { filename: './handler.mjs' })`,
    invalidTask,
    [/'filename' of run\(\)/, /new URL\('\.\/handler\.mjs', import\.meta\.url\)/],
  ],
  'a function as the file': [
    `one({ filename: value => value })`,
    invalidOption,
    [/'filename'/, /a function/],
  ],
  'a misspelt option': [
    `one({ maxWorker: 4 })`,
    invalidOption,
    [/'maxWorker'/, /Did you mean 'maxWorkers'\?/],
  ],
  'an option of another library': [`one({ poolSize: 4 })`, invalidOption, [/'poolSize'/, /Use 'maxWorkers'/]],
  'an option that no library has': [
    `one({ colour: 4 })`,
    invalidOption,
    [/'colour'/, /Use one of .*maxWorkers/],
  ],
  'a number in quotes': [
    `one({ maxWorkers: '4' })`,
    invalidOption,
    [/'maxWorkers'/, /an integer/, /got '4'/],
  ],
  'more minWorkers than maxWorkers': [
    `one({ minWorkers: 5, maxWorkers: 2 })`,
    invalidOption,
    [/'minWorkers' \(5\)/, /'maxWorkers' \(2\)/],
  ],
  'a queue class in place of a queue': [
    `one({ queue: PriorityQueue })`,
    invalidOption,
    [/'queue'/, /push\(task\)/, /a function/],
  ],
  'a call without a file': [`await one().run(1)`, invalidTask, [/Give 'module' or 'filename' to the pool/]],
  'a misspelt option of a call': [
    `await one({ filename: file('handler.mjs') }).run(1, { nam: 'square' })`,
    invalidTask,
    [/'nam'/, /Did you mean 'name'\?/],
  ],
  'two arguments for the handler': [
    `await one({ filename: file('handler.mjs') }).run(1, 2)`,
    invalidTask,
    [/options of run\(\) must be an object/, /got 2/],
  ],
  "the handler's name as a string": [
    `await one({ filename: file('handler.mjs') }).run(1, 'square')`,
    invalidTask,
    [/options of run\(\) must be an object/, /write \{ name \}/],
  ],
  'a signal in place of the options': [
    `await one({ filename: file('handler.mjs') }).run(1, new AbortController().signal)`,
    invalidTask,
    [/options of run\(\) must be an object/, /\{ signal \}/, /AbortSignal/],
  ],
  'a controller in place of its signal': [
    `await one({ filename: file('handler.mjs') }).run(1, { signal: new AbortController() })`,
    invalidTask,
    [/'signal'/, /AbortSignal/],
  ],
  'a forgotten export default': [
    `await one({ filename: file('no-default.mjs') }).run(1)`,
    workerStart,
    [/No function named 'default'/, /no-default\.mjs/, /'name'/],
  ],
  'a forgotten module.exports =': [
    `await one({ filename: file('no-default.cjs') }).run(1)`,
    workerStart,
    [/No function named 'default'/, /no-default\.cjs/, /'name'/],
  ],
  'a handler that is no function': [
    `await one({ filename: file('no-function.mjs') }).run(1)`,
    workerStart,
    [/No function named 'default'/, /no-function\.mjs/],
  ],
  'a handler name that is no function': [
    `await one({ filename: file('handler.mjs') }).run(1, { name: 'settings' })`,
    workerStart,
    [/No function named 'settings'/, /handler\.mjs/],
  ],
  'a misspelt handler name': [
    `await one({ filename: file('handler.mjs'), name: 'sqare' }).run(1)`,
    workerStart,
    [/No function named 'sqare'/, /handler\.mjs/],
  ],
  'a missing file': [
    `await one({ filename: file('gone.mjs') }).run(1)`,
    workerStart,
    [/There is no file/, /gone\.mjs/],
  ],
  'a missing native addon': [
    `await one({ filename: file('gone.node') }).run(1)`,
    workerStart,
    [/There is no file/, /gone\.node/],
  ],
  'a folder in place of a file': [
    `await one({ filename: file('old') }).run(1)`,
    workerStart,
    [/There is no file .*old\. Correct 'filename' or 'module'/],
  ],
  'a file that does not parse': [
    `await one({ filename: file('broken.mjs') }).run(1)`,
    workerStart,
    [/broken\.mjs/, /SyntaxError/, /Fix the file/],
  ],
  'a file whose import is not installed': [
    `await one({ filename: file('no-package.mjs') }).run(1)`,
    workerStart,
    [/Cannot find package 'lido-no-such-package'/, /no-package\.mjs/],
  ],
  'an ES module in a CommonJS folder': [
    `await one({ filename: file('old/handler.js') }).run(1)`,
    workerStart,
    [/handler\.js/, /SyntaxError: .*export/],
  ],
  'a function in the payload': [
    `await one({ filename: file('handler.mjs') }).run({ rows: [1], onRow() {} })`,
    notCloneable,
    [/payload\.onRow/, /plain data/],
  ],
  'a function as the payload': [
    `await one({ filename: file('handler.mjs') }).run(() => 1)`,
    notCloneable,
    [/^payload cannot be sent/],
  ],
  'a promise in the payload': [
    `await one({ filename: file('handler.mjs') }).run({ rows: Promise.resolve([]) })`,
    notCloneable,
    [/payload\.rows/, /Promise/],
  ],
  'a function in the result': [
    `await one({ filename: file('handler.mjs') }).run(1, { name: 'give' })`,
    notCloneable,
    [/result\.items\[1\]\.callback/],
  ],
  'run() after close()': [
    `const pool = one({ filename: file('handler.mjs') }); await pool.close(); await pool.run(1)`,
    poolClosed,
    [/closing or closed/, /Create another pool, or call close\(\) later/],
  ],
  'room() after close()': [
    `const pool = one({ filename: file('handler.mjs') }); await pool.close(); await pool.room()`,
    poolClosed,
    [/closing or closed/],
  ],
}

const attempts = Object.entries(mistakes).map(
  ([title, [source]]) => `await attempt(${JSON.stringify(title)}, async () => { ${source} })`,
)
const ended = run(
  'mistakes.mjs',
  `import { PriorityQueue, Pool } from 'lido'
   const file = name => new URL(name, import.meta.url)
   const pools = []
   function one(options) {
     const pool = new Pool({ minWorkers: 0, ...(options?.minWorkers > 0 ? {} : { maxWorkers: 1 }), ...options })
     pools.push(pool)
     return pool
   }
   const told = {}
   async function attempt(title, mistake) {
     told[title] = await mistake().then(() => null, ({ name, code, message }) => ({ name, code, message }))
     for (const pool of pools.splice(0)) await pool.destroy()
   }
   ${attempts.join('\n')}
   console.log(JSON.stringify(told))`,
).then(answer)

describe('errors for common mistakes', () => {
  for (const [title, [, [name, code], words]] of Object.entries(mistakes)) {
    test(`the error for ${title} has the right class, code and message`, async () => {
      const told = (await ended)[title]
      assert.ok(told !== null, 'nothing was said')
      assert.deepEqual([told.name, told.code], [name, code])
      for (const word of words) assert.match(told.message, word)
    })
  }

  test('the error for a TypeScript file suggests a loader where Node does not run such files', async t => {
    const outcome = answer(
      await run(
        'typed.mjs',
        `import { Pool } from 'lido'
         const pool = new Pool({ filename: new URL('./typed.ts', import.meta.url), maxWorkers: 1 })
         const outcome = await pool.run(21).catch(({ message }) => message)
         console.log(JSON.stringify(outcome))
         await pool.destroy()`,
      ),
    )
    if (process.features.typescript) return assert.equal(outcome, 42, t.name)
    assert.match(outcome, /typed\.ts/)
    assert.match(outcome, /This version of Node\.js cannot run files of this type\. Compile the file/)
    assert.match(outcome, /'--import', 'tsx'/)
  })

  for (const format of ['esm', 'cjs']) {
    for (const backend of ['thread', 'process', 'inline']) {
      test(`a bundle that contains lido runs tasks, and without the condition 'module' its error says so (${format}, backend: ${backend})`, async () => {
        const file = write(
          `bundled-${format}-${backend}.mjs`,
          `import { join } from 'node:path'
           import { Pool } from 'lido'
           async function main() {
             const pool = new Pool({ filename: join(process.cwd(), 'handler.mjs'), maxWorkers: 1, backend: '${backend}' })
             console.log(JSON.stringify(await pool.run(1).finally(() => pool.destroy())))
           }
           main().catch(({ code, message }) => console.log(JSON.stringify([code, message])))`,
        )
        const outfile = join(project, 'out', `${format}-${backend}.${format === 'esm' ? 'mjs' : 'cjs'}`)
        const options = {
          entryPoints: [file],
          outfile,
          bundle: true,
          platform: 'node',
          format,
          logLevel: 'error',
        }
        await build(options)
        assert.equal(answer(await node(outfile)), 1)
        // esbuild sets the condition only where a program sets none.
        await build({ ...options, conditions: ['production'] })
        const [code, message] = answer(await node(outfile))
        assert.equal(code, 'ERR_LIDO_WORKER_START')
        assert.match(
          message,
          /lido's own file.*: the bundler of this program did not copy.*conditions: \['module'\].*leave lido out/,
        )
      })
    }
  }

  test('an uncaught InvalidOptionError ends the program with its message and code', async () => {
    const { exitCode, errors } = await run(
      'uncaught.mjs',
      `import { Pool } from 'lido'
       new Pool({ maxWorker: 4 })`,
    )
    assert.equal(exitCode, 1)
    assert.match(errors, /InvalidOptionError: Unknown option 'maxWorker'.*Did you mean 'maxWorkers'\?/)
    assert.match(errors, /code: 'ERR_LIDO_INVALID_OPTION'/)
  })
})
