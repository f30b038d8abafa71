// A process with a pool stays alive while a call is pending, and exits when no call is pending. The tests check how a program
// exits.
import assert from 'node:assert/strict'
import { test } from '../helpers/pool-test.js'
import { runProgram } from '../helpers/program.js'

async function expectEnd(source, expected = { exitCode: 0 }, options = undefined) {
  const { exitCode, signal, output, errors } = await runProgram(source, options)
  assert.equal(signal, null, `${output}\n${errors}`)
  assert.equal(exitCode, expected.exitCode, `${output}\n${errors}`)
  if ('output' in expected) assert.equal(output, expected.output)
  return errors
}

const echo = `new Pool({ filename: handler('echo.js'), minWorkers: 2, maxWorkers: 2 })`
const tracked = `
  const words = new Int32Array(new SharedArrayBuffer(64))
  const task = index => ({ words, size: 4, index })
  const release = index => { Atomics.store(words, 8 + index, 1); Atomics.notify(words, 8 + index) }
`

test('a pool without a file, or with a missing file, lets the process exit', async () => {
  await expectEnd(`new Pool({ minWorkers: 2, maxWorkers: 2 })`)
  await expectEnd(`new Pool({ filename: '/no/such/file.js', minWorkers: 2, maxWorkers: 2 })`)
  await expectEnd(
    `const pool = new Pool({ filename: '/no/such/file.js' })
    await pool.run(1).catch(error => console.log(error.code))`,
    { exitCode: 0, output: 'ERR_LIDO_WORKER_START\n' },
  )
})

test('a running task and a queued task keep the process alive until they are answered', async () => {
  await expectEnd(
    `${tracked}
    const pool = new Pool({ filename: handler('tracked.js'), maxWorkers: 1 })
    pool.run(task(0)).then(index => console.log('running', index))
    pool.run(task(1)).then(index => console.log('waiting', index))
    setTimeout(() => { release(0); release(1) }, 200).unref()
    while (Atomics.load(words, 0) === 0) await new Promise(resolve => setImmediate(resolve))
    release(0)
    release(1)`,
    { exitCode: 0, output: 'running 0\nwaiting 1\n' },
  )
})

test('a task keeps the process alive while the workers of its pool start', async () => {
  await expectEnd(`const pool = ${echo}; pool.run('x').then(console.log)`, { exitCode: 0, output: 'x\n' })
})

test('a pending room() keeps the process alive until it resolves', async () => {
  for (const backend of ['thread', 'process']) {
    await expectEnd(
      `const options = { filename: handler('tracked.js'), name: 'endless', maxWorkers: 1, maxQueue: 0, backend: '${backend}' }
      const pool = new Pool(options)
      for (let round = 0; round < 2; round++) {
        await pool.room()
        const task = { words: new Int32Array(16), size: 4, index: 0 }
        await pool.run(task, { timeout: 20 }).catch(error => console.log(error.limit))
      }
      await pool.room()
      console.log('room')`,
      { exitCode: 0, output: 'timeout\ntimeout\nroom\n' },
    )
  }
})

test('close() and destroy() without await let the process exit with code 0', async () => {
  await expectEnd(`const pool = ${echo}; await pool.run('x'); pool.destroy()`)
  await expectEnd(`const pool = ${echo}; await pool.run('x'); pool.close()`)
  await expectEnd(`const pool = ${echo}; pool.destroy()`)
  await expectEnd(
    `const pool = ${echo}; pool.run('x').then(console.log); pool.close().then(() => console.log('closed'))`,
    {
      exitCode: 0,
      output: 'x\nclosed\n',
    },
  )
})

test('close() and destroy() resolve although nothing else keeps the process alive', async () => {
  for (const end of ['close', 'destroy']) {
    await expectEnd(`const pool = ${echo}; await pool.${end}(); console.log('ended')`, {
      exitCode: 0,
      output: 'ended\n',
    })
  }
})

test('an unhandled rejection in the program ends the process with exit code 1', async () => {
  const errors = await expectEnd(
    `const pool = ${echo}; pool.run('x').then(() => { throw new Error('the user’s own') })`,
    { exitCode: 1 },
  )
  assert.match(errors, /the user’s own/)
})

test('output of tasks appears although the host was blocked', async () => {
  const { output, exitCode, errors } = await runProgram(`
    const options = { filename: handler('logging.js'), minWorkers: 2, maxWorkers: 2, performanceWarnings: false }
    const pool = new Pool(options)
    await Promise.all([0, 1].map(index => pool.run(index)))
    const answers = Array.from({ length: 40 }, (_, index) => pool.run(index + 2))
    for (const end = performance.now() + 1500; performance.now() < end; );
    await Promise.all(answers)
    await pool.destroy()
  `)
  assert.equal(exitCode, 0, errors)
  assert.deepEqual(
    output.trim().split('\n').sort(),
    Array.from({ length: 42 }, (_, index) => `line ${index}`).sort(),
  )
})

test('workers start when env is process.env of a parent with V8 flags, a title and NODE_OPTIONS', async () => {
  await expectEnd(
    `const pool = new Pool({ filename: handler('echo.js'), env: process.env })
    console.log(await pool.run('x'))`,
    { exitCode: 0, output: 'x\n' },
    {
      nodeArguments: ['--max-old-space-size=300', '--title=parent', '--expose-gc'],
      env: { NODE_OPTIONS: '--max-old-space-size=200 --title=options --no-warnings' },
    },
  )
})

test('an exception in a close listener ends the process with exit code 1', async () => {
  const { exitCode, output, errors } = await runProgram(`
    const pool = new Pool({ filename: handler('echo.js'), minWorkers: 1, maxWorkers: 1 })
    pool.on('close', () => { throw new Error('of the listener') })
    await pool.run(1)
    await pool.close()
    console.log('went on')
    process.exit(0)
  `)
  assert.deepEqual([exitCode, output], [1, ''])
  assert.match(errors, /Error: of the listener/)
})

test('terminate() keeps the process alive until the worker processes have exited', async () => {
  const { exitCode, output, errors } = await runProgram(`
    for (let round = 0; round < 8; round++) {
      const pool = new Pool({ filename: handler('echo.js'), minWorkers: 2, maxWorkers: 2, backend: 'process' })
      await pool.run(1)
      await Promise.all(pool.workers.map(worker => worker.terminate()))
      await pool.destroy()
    }
    console.log('end')
  `)
  assert.deepEqual([exitCode, output, errors], [0, 'end\n', ''])
})

test('a destroyed pool with queued inline tasks lets the process exit', async () => {
  await expectEnd(
    `const pool = new Pool({ filename: handler('echo.js'), backend: 'inline', minWorkers: 1, maxWorkers: 1,
      concurrentTasksPerWorker: 3, maxTasksPerWorker: 1 })
    await pool.run(0)
    const tasks = [1, 2, 3].map(value => pool.run(value).catch(error => error.reason))
    await tasks[0]
    await pool.destroy()
    console.log(await Promise.all(tasks))`,
    { exitCode: 0, output: "[ 1, 'destroyed', 'destroyed' ]\n" },
  )
})
