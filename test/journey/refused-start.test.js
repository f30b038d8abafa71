// Node or the system refuses to start a worker, or ends it before the handler file loads. The error names the cause, not the
// file.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { openFolder } from '../helpers/folder.js'
import { handler } from '../helpers/handler.js'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'
import { rejection } from '../helpers/rejection.js'

const filename = handler('echo.js')

for (const [backend, cause, options, option] of [
  ['thread', 'an unknown flag', { execArgv: ['--no-such-flag'] }, 'execArgv'],
  ['thread', 'an unknown flag in NODE_OPTIONS', { env: { NODE_OPTIONS: '--no-such-flag' } }, 'execArgv'],
  ['thread', 'a function', { workerData: () => {} }, 'workerData'],
  ['process', 'a function', { workerData: () => {} }, 'workerData'],
  ['thread', 'a MessagePort', { workerData: new MessageChannel().port1 }, 'workerData'],
]) {
  test(`run() rejects and names the option '${option}' when Node refuses ${cause} (backend: ${backend})`, async open => {
    const pool = open({ filename, backend, minWorkers: 0, maxWorkers: 1, ...options })
    const error = await rejection(pool.run(1))
    assert.deepEqual([error.code, error.option], ['ERR_LIDO_INVALID_OPTION', option])
    assert.doesNotMatch(error.message, /maxWorkers/)
  })
}

test(
  'a worker process that cannot start leaves no file descriptor open',
  {
    skip: !existsSync('/proc/self/fd'),
  },
  async (open, t) => {
    const { execPath } = process
    t.after(() => {
      process.execPath = execPath
    })
    /** The pool can read it once: at its construction, and not at the start of a worker. */
    const makeUnreadable = () => {
      let reads = 0
      return {
        get member() {
          if (reads++ > 0) throw new Error('not now')
          return 1
        },
      }
    }
    const options = { filename, backend: 'process', minWorkers: 0, maxWorkers: 1 }
    const fail = async () => {
      process.execPath = execPath
      await rejection(open({ ...options, workerData: makeUnreadable() }).run(1))
      process.execPath = '/no/such/node'
      assert.match((await rejection(open(options).run(1))).message, /no longer exists/)
      // The pool also emits this error as an event.
      await new Promise(setImmediate)
    }
    await fail()
    const descriptors = () => readdirSync('/proc/self/fd').length
    const before = descriptors()
    for (let round = 0; round < 5; round++) await fail()
    assert.ok(descriptors() <= before, `${descriptors()} descriptors, ${before} before`)
  },
)

test('the error names execArgv when a flag ends the worker process before the handler file loads', async (open, t) => {
  const folder = openFolder(t)
  for (const [execArgv, words] of [
    [['--no-such-flag'], /exit code 9.*refuses a flag of execArgv/],
    [['--require', folder.write('exits.cjs', 'process.exit(7)')], /exit code 7.*execArgv/],
  ]) {
    const error = await rejection(open({ filename, backend: 'process', maxWorkers: 1, execArgv }).run(1))
    assert.deepEqual([error.code, error.stage], ['ERR_LIDO_WORKER_START', 'thread'])
    assert.match(error.message, words)
    assert.doesNotMatch(error.message, /Fix the file|maxWorkers/)
  }
  const own = folder.write('exits-too.mjs', 'process.exit(9)')
  const error = await rejection(open({ filename: own, backend: 'process', maxWorkers: 1 }).run(1))
  assert.deepEqual([error.stage, error.filename], ['load', own])
})

const flag = Number(process.versions.node.split('.')[0]) >= 24 ? '--permission' : '--experimental-permission'

test('a worker process runs tasks when the permission model forbids threads', async () => {
  const { output, errors } = await runProgram(
    `const pool = new Pool({ filename: handler('echo.js'), backend: 'process', maxWorkers: 1 })
     console.log(await pool.run('x'))
     await pool.close()`,
    { nodeArguments: [flag, '--allow-fs-read=*', '--allow-child-process'] },
  )
  assert.equal(output, 'x\n', errors)
})

test('the error names the missing flags and the file when the permission model forbids workers', async () => {
  const { output, errors } = await runProgram(
    `for (const backend of ['thread', 'process']) {
       try {
         new Pool({ filename: handler('echo.js'), backend, maxWorkers: 1 })
       } catch ({ code, stage, filename, message }) {
         console.log(code, stage, filename.endsWith('echo.js'), /--allow-worker.*--allow-child-process/.test(message), message.includes('Lower'))
       }
     }`,
    { nodeArguments: [flag, '--allow-fs-read=*'] },
  )
  assert.equal(output, 'ERR_LIDO_WORKER_START thread true true false\n'.repeat(2), errors)
})

test('a thread that started for refused options cannot end the program', async () => {
  const { exitCode, output, errors } = await runProgram(`
    const execArgv = ['--require', './missing.cjs']
    try {
      new Pool({ filename: handler('echo.js'), minWorkers: 2, maxWorkers: 1, execArgv })
    } catch ({ code }) {
      console.log(code)
    }
    // Meanwhile the thread fails, and the host cannot end it.
    const until = Date.now() + 500
    while (Date.now() < until);
    setTimeout(() => console.log('alive'), 50)
  `)
  assert.deepEqual([exitCode, output.trim().split('\n')], [0, ['ERR_LIDO_INVALID_OPTION', 'alive']], errors)
})
