// Where Node gives no worker, or ends it before the handler's file was looked at: the error names what refused it, not the file.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('echo.js')

for (const [backend, options, option] of [
  ['thread', { execArgv: ['--no-such-flag'] }, 'execArgv'],
  ['thread', { env: { NODE_OPTIONS: '--no-such-flag' } }, 'execArgv'],
  ['thread', { workerData: () => {} }, 'workerData'],
  ['process', { workerData: () => {} }, 'workerData'],
  ['thread', { workerData: new MessageChannel().port1 }, 'workerData'],
]) {
  test(`${option} that Node refuses is named by the call where no worker was to start before (${backend})`, async open => {
    const pool = open({ filename, backend, minThreads: 0, maxThreads: 1, ...options })
    const error = await rejection(pool.run(1))
    assert.deepEqual([error.code, error.option], ['ERR_LIDO_INVALID_OPTION', option])
    assert.doesNotMatch(error.message, /maxThreads/)
  })
}

for (const backend of ['thread', 'process']) {
  test(`a getter in workerData that throws what is no error fails the call (${backend})`, async open => {
    for (const thrown of [null, Object.create(null)]) {
      const workerData = {
        get member() {
          throw thrown
        },
      }
      const pool = open({ filename, backend, minThreads: 0, maxThreads: 1, workerData })
      assert.match((await rejection(pool.run(1))).code, /ERR_LIDO/)
    }
  })
}

test(
  'a process that is not started leaves no descriptor, and one that the system refuses harms nobody',
  {
    skip: !existsSync('/proc/self/fd'),
  },
  async (open, t) => {
    const { execPath } = process
    t.after(() => {
      process.execPath = execPath
    })
    const unreadable = {
      get member() {
        throw new Error('not now')
      },
    }
    const options = { filename, backend: 'process', minThreads: 0, maxThreads: 1 }
    const fail = async () => {
      process.execPath = execPath
      await rejection(open({ ...options, workerData: unreadable }).run(1))
      process.execPath = '/no/such/node'
      assert.match((await rejection(open(options).run(1))).message, /not there any more/)
      // It says so once more, as an event.
      await new Promise(setImmediate)
    }
    await fail()
    const descriptors = () => readdirSync('/proc/self/fd').length
    const before = descriptors()
    for (let round = 0; round < 5; round++) await fail()
    assert.ok(descriptors() <= before, `${descriptors()} descriptors, ${before} before`)
  },
)

test("what ends a process before the handler's file was looked at is not the file's", async (open, t) => {
  const folder = openFolder(t)
  for (const [execArgv, words] of [
    [['--no-such-flag'], /exit code 9.*refuses a flag of execArgv/],
    [['--require', folder.write('exits.cjs', 'process.exit(7)')], /exit code 7.*execArgv/],
  ]) {
    const error = await rejection(open({ filename, backend: 'process', maxThreads: 1, execArgv }).run(1))
    assert.deepEqual([error.code, error.stage], ['ERR_LIDO_WORKER_START', 'thread'])
    assert.match(error.message, words)
    assert.doesNotMatch(error.message, /Mend the file|maxThreads/)
  }
  const own = folder.write('exits-too.mjs', 'process.exit(9)')
  const error = await rejection(open({ filename: own, backend: 'process', maxThreads: 1 }).run(1))
  assert.deepEqual([error.stage, error.filename], ['load', own])
})

test('what takes the worker’s order from its parent port fails the call', async (open, t) => {
  const file = openFolder(t).write(
    'listens.mjs',
    `import { parentPort } from 'node:worker_threads'
     parentPort.once('message', () => {})
     await new Promise(resolve => setTimeout(resolve, 50))`,
  )
  const execArgv = ['--import', pathToFileURL(file).href]
  const error = await rejection(open({ filename, maxThreads: 1, execArgv }).run(1))
  assert.deepEqual([error.code, error.stage], ['ERR_LIDO_WORKER_START', 'thread'])
  assert.match(error.message, /listens to the parent port.*execArgv/)
})

const flag = Number(process.versions.node.split('.')[0]) >= 24 ? '--permission' : '--experimental-permission'

test('a process that may have no threads is a worker all the same', async () => {
  const { output, errors } = await runProgram(
    `const pool = new Pool({ filename: handler('echo.js'), backend: 'process', maxThreads: 1 })
     console.log(await pool.run('x'))
     await pool.close()`,
    { nodeArguments: [flag, '--allow-fs-read=*', '--allow-child-process'] },
  )
  assert.equal(output, 'x\n', errors)
})

test('where Node permits no worker, the error names the flag and the file', async () => {
  const { output, errors } = await runProgram(
    `for (const backend of ['thread', 'process']) {
       try {
         new Pool({ filename: handler('echo.js'), backend, maxThreads: 1 })
       } catch ({ code, stage, filename, message }) {
         console.log(code, stage, filename.endsWith('echo.js'), /--allow-worker.*--allow-child-process/.test(message), message.includes('Lower'))
       }
     }`,
    { nodeArguments: [flag, '--allow-fs-read=*'] },
  )
  assert.equal(output, 'ERR_LIDO_WORKER_START thread true true false\n'.repeat(2), errors)
})
