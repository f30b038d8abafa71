// closeOnSignals: what a signal does to pools and to their process. How the process ends is the fact.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from '../helpers/pool-test.js'
import { runProgram, startProgram } from '../helpers/program.js'

const isPosix = process.platform !== 'win32'
const setup = `
  const words = new Int32Array(new SharedArrayBuffer(64))
  const task = index => ({ words, size: 4, index })
  const release = index => { Atomics.store(words, 8 + index, 1); Atomics.notify(words, 8 + index) }
  const started = async count => { while (Atomics.load(words, 0) < count) await new Promise(resolve => setImmediate(resolve)) }
  const open = (name, options) => new Pool({ filename: handler('tracked.js'), name, minThreads: 1, maxThreads: 1, ...options })
  const say = text => console.log(text)
  setInterval(() => {}, 60_000)
`

/** Runs it until it says `busy`, then sends the signals, each when it has said so much more. */
async function signalled(source, signals) {
  const { child, ended } = startProgram(setup + source)
  child.stdout.setEncoding('utf8')
  let said = ''
  child.stdout.on('data', text => {
    said += text
  })
  for (const [word, signal] of signals) {
    while (!said.includes(word) && child.exitCode === null && child.signalCode === null) {
      await Promise.race([once(child.stdout, 'data'), ended])
    }
    child.kill(signal)
  }
  return await ended
}

const options = { skip: !isPosix && 'no signals here' }

for (const asked of ['SIGTERM', 'SIGINT']) {
  test(
    `${asked} closes every pool that asked for it, then ends the process as it would have`,
    options,
    async () => {
      const { signal, output, errors } = await signalled(
        `
      const pools = [open('default', { closeOnSignals: true }), open('patient', { closeOnSignals: true })]
      for (const [index, pool] of pools.entries()) {
        pool.run(task(index)).then(say)
        pool.on('close', () => say('closed'))
      }
      await started(2)
      say('busy')
      while (pools.some(pool => pool.stats().state === 'open')) await new Promise(resolve => setTimeout(resolve, 5))
      release(0)
      release(1)
      `,
        [['busy', asked]],
      )
      assert.equal(signal, asked, errors)
      assert.deepEqual(output.trim().split('\n').sort(), ['0', '1', 'busy', 'closed', 'closed'])
    },
  )
}

test('what callers do with their last answers is still done', options, async () => {
  const { signal, output } = await signalled(
    `
    const pool = open('patient', { closeOnSignals: ['SIGTERM'] })
    pool.run(task(0)).then(() => setTimeout(() => say('responded'), 5))
    await started(1)
    say('busy')
    while (pool.stats().state === 'open') await new Promise(resolve => setTimeout(resolve, 5))
    release(0)
    `,
    [['busy', 'SIGTERM']],
  )
  assert.equal(signal, 'SIGTERM')
  assert.match(output, /responded/)
})

test('a second signal, of any kind, does not wait for what runs', options, async () => {
  const { signal, output } = await signalled(
    `
    const pool = open('endless', { closeOnSignals: true, closeTimeout: Infinity })
    pool.run(task(0)).catch(error => say(error.reason))
    await started(1)
    say('busy')
    while (pool.stats().state === 'open') await new Promise(resolve => setTimeout(resolve, 5))
    say('closing')
    `,
    [
      ['busy', 'SIGTERM'],
      ['closing', 'SIGINT'],
    ],
  )
  assert.equal(signal, 'SIGTERM')
  assert.match(output, /destroyed/)
})

for (const add of ['on', 'once', 'prependListener']) {
  test(
    `with a listener of the user's own (${add}) the pools close and the process goes on`,
    options,
    async () => {
      const { signal, exitCode, output } = await signalled(
        `
      process.${add}('SIGTERM', () => say('mine'))
      const pool = open('default', { closeOnSignals: true })
      pool.on('close', () => setTimeout(() => { say('on ' + process.listenerCount('SIGINT')); process.exit(9) }, 300))
      say('busy')
      `,
        [['busy', 'SIGTERM']],
      )
      assert.deepEqual([signal, exitCode], [null, 9])
      assert.match(output, /mine.*on 0/s)
    },
  )
}

test(
  'a signal that is the first for a pool closes it, whatever signals others were closed by',
  options,
  async () => {
    const { output } = await signalled(
      `
    for (const theirs of ['SIGTERM', 'SIGHUP']) process.on(theirs, () => {})
    const one = open('endless', { closeOnSignals: ['SIGTERM'], closeTimeout: Infinity })
    one.run(task(0)).catch(error => say('one ' + error.reason))
    const other = open('patient', { closeOnSignals: ['SIGHUP'] })
    other.run(task(1)).then(() => say('other answered'))
    await started(2)
    say('busy')
    while (one.stats().state === 'open') await new Promise(resolve => setTimeout(resolve, 5))
    say('closing')
    while (other.stats().state === 'open') await new Promise(resolve => setTimeout(resolve, 5))
    release(1)
    await Promise.all([one.close(), other.close()])
    const late = open('default', { closeOnSignals: ['SIGHUP'] })
    late.on('close', () => say('late closed'))
    say('late made')
    while (late.stats().state !== 'closed') await new Promise(resolve => setTimeout(resolve, 5))
    process.exit()
    `,
      [
        ['busy', 'SIGTERM'],
        ['closing', 'SIGHUP'],
        ['late made', 'SIGHUP'],
      ],
    )
    assert.match(output, /one destroyed.*other answered.*late closed/s)
  },
)

for (const [first, second] of [
  ['SIGTERM', 'SIGINT'],
  ['SIGINT', 'SIGTERM'],
]) {
  const source = asked => `
    process.once('${first}', () => say('mine'))
    const one = open('endless', { closeOnSignals: ${asked}, closeTimeout: Infinity })
    one.run(task(0)).catch(error => say('one ' + error.reason))
    const other = open('default', { closeOnSignals: ['${second}'] })
    other.on('close', () => say('other closed'))
    await started(1)
    say('busy')
    while (one.stats().state === 'open') await new Promise(resolve => setTimeout(resolve, 5))
    say('closing')
  `

  for (const asked of [`['${first}']`, 'true']) {
    test(
      `a second signal (${second}) that nobody else listens to is raised, though the first one was the user's (${asked})`,
      options,
      async () => {
        const { signal, output } = await signalled(source(asked), [
          ['busy', first],
          ['closing', second],
        ])
        assert.equal(signal, second)
        assert.match(output, /mine/)
        assert.match(output, /one destroyed/)
        assert.match(output, /other closed/)
      },
    )
  }

  test(`the same signal (${first}) again, to which the user listened once, is raised`, options, async () => {
    const { signal, output } = await signalled(source('true'), [
      ['busy', first],
      ['closing', first],
    ])
    assert.equal(signal, first)
    assert.match(output, /mine.*one destroyed/s)
  })
}

test('a second signal to which the user listens too leaves the end to the user', options, async () => {
  const { exitCode, output } = await signalled(
    `
    process.once('SIGTERM', () => say('mine'))
    process.once('SIGINT', () => say('mine too'))
    const pool = open('endless', { closeOnSignals: true, closeTimeout: Infinity })
    pool.run(task(0)).catch(error => say(error.reason))
    pool.on('close', () => setImmediate(() => process.exit(9)))
    await started(1)
    say('busy')
    while (pool.stats().state === 'open') await new Promise(resolve => setTimeout(resolve, 5))
    say('closing')
    `,
    [
      ['busy', 'SIGTERM'],
      ['closing', 'SIGINT'],
    ],
  )
  assert.equal(exitCode, 9)
  assert.match(output, /mine.*mine too.*destroyed/s)
})

test(
  'a pool whose first signal comes while callers say their last words is let finish',
  options,
  async () => {
    const { signal, output } = await signalled(
      `
    const one = open('default', { closeOnSignals: ['SIGTERM'] })
    one.on('close', () => process.kill(process.pid, 'SIGHUP'))
    const other = open('patient', { closeOnSignals: ['SIGHUP'] })
    other.run(task(0)).then(() => say('other answered'))
    other.on('close', () => say('other closed'))
    await started(1)
    process.nextTick(() => say('busy'))
    while (other.stats().state === 'open') await new Promise(resolve => setTimeout(resolve, 5))
    setTimeout(() => release(0), 200)
    `,
      [['busy', 'SIGTERM']],
    )
    assert.equal(signal, 'SIGTERM')
    assert.match(output, /other answered.*other closed/s)
  },
)

test(
  'a pool made while callers say their last words is closed, and the signal is not forgotten',
  options,
  async () => {
    const { signal, output } = await signalled(
      `
    const pool = open('default', { closeOnSignals: true })
    pool.on('close', () => setTimeout(() => {
      const late = open('default', { closeOnSignals: true })
      late.on('close', () => say('late closed'))
    }, 1))
    process.nextTick(() => say('busy'))
    `,
      [['busy', 'SIGTERM']],
    )
    assert.equal(signal, 'SIGTERM')
    assert.match(output, /late closed/)
  },
)

test('a pool made while the others close is closed too', options, async () => {
  const { signal, output } = await signalled(
    `
    const pool = open('default', { closeOnSignals: true })
    pool.on('close', () => {})
    process.nextTick(() => say('busy'))
    while (pool.stats().state === 'open') await new Promise(resolve => setTimeout(resolve, 5))
    const late = open('default', { closeOnSignals: true })
    late.on('close', () => say('late closed'))
    `,
    [['busy', 'SIGTERM']],
  )
  assert.equal(signal, 'SIGTERM')
  assert.match(output, /late closed/)
})

test(
  'only the signals that were named close a pool, and a pool that did not ask is left alone',
  options,
  async () => {
    const { output } = await signalled(
      `
    process.on('SIGTERM', () => {
      say([named.stats().state, plain.stats().state, other.stats().state].join())
      process.exit(0)
    })
    const named = open('default', { closeOnSignals: ['SIGTERM', 'SIGTERM'] })
    const plain = open('default')
    const other = open('default', { closeOnSignals: ['SIGHUP'] })
    say('busy')
    `,
      [['busy', 'SIGTERM']],
    )
    assert.match(output, /(closing|closed),open,open/)
  },
)

test('no listener is there without the option, one for many pools with it, and none after they are closed', async () => {
  const { output, errors } = await runProgram(`
    const count = () => process.listenerCount('SIGTERM') + '/' + process.listenerCount('SIGINT')
    const seen = [count()]
    new Pool({ filename: handler('echo.js'), minThreads: 0, maxThreads: 1 })
    seen.push(count())
    const pools = Array.from({ length: 20 }, () =>
      new Pool({ filename: handler('echo.js'), minThreads: 0, maxThreads: 1, closeOnSignals: true }))
    seen.push(count())
    await Promise.all(pools.slice(1).map((pool, index) => index % 2 ? pool.close() : pool.destroy()))
    seen.push(count())
    await pools[0].close()
    seen.push(count())
    console.log(seen.join(' '))
  `)
  assert.equal(output.trim(), '0/0 0/0 1/1 1/1 0/0', errors)
  assert.equal(errors, '')
})

test('in a worker thread, which no signal reaches, the option is refused by name', async () => {
  const { output } = await runProgram(`
    import { Worker } from 'node:worker_threads'
    const worker = new Worker(\`
      import(process.argv[2]).then(({ Pool }) => {
        try { new Pool({ closeOnSignals: true }) } catch (error) { console.log(error.code, error.option) }
      })
    \`, { eval: true, argv: ['${import.meta.resolve('lido')}'] })
    await new Promise(resolve => worker.on('exit', resolve))
  `)
  assert.equal(output.trim(), 'ERR_LIDO_INVALID_OPTION closeOnSignals')
})
