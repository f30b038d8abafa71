// `LIDO_INSPECT=1`, `npx lido top` and `npx lido trace`, as a user runs them.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openFolder } from '../helpers/folder.js'
import { untilItWorks } from '../helpers/retry.js'

const command = fileURLToPath(new URL('../../bin/lido.js', import.meta.url))
const commonJs = fileURLToPath(new URL('../../dist/cjs/index.js', import.meta.url))
const limitMs = 60_000
const isWindows = process.platform === 'win32'

/** Each test has a folder for temporary files of its own, so it sees no programs of others. */
function openPlace(t) {
  const { path, write } = openFolder(t)
  const temporary = join(path, 'tmp')
  mkdirSync(temporary)
  write(
    'handler.mjs',
    `export function spin(ms) {
  const end = Date.now() + ms
  // Node writes the text of a regular expression into a profile.
  while (Date.now() < end) /"\\s+\\\\"/.test('a " b '.repeat(50))
  return ms
}
`,
  )
  write(
    'pool.mjs',
    `import { Pool } from '${import.meta.resolve('lido')}'
export const pool = new Pool({ filename: new URL('handler.mjs', import.meta.url), name: 'spin', minWorkers: 2, maxWorkers: 2, label: 'images' })
export const untilStdinEnds = () => new Promise(resolve => process.stdin.on('end', resolve).resume())
`,
  )
  const start = (args, env = {}) => {
    const { NODE_OPTIONS: _, LIDO_INSPECT: __, ...inherited } = process.env
    const child = spawn(process.execPath, args, {
      cwd: path,
      env: { ...inherited, TMPDIR: temporary, TEMP: temporary, ...env },
    })
    const limit = setTimeout(() => child.kill('SIGKILL'), limitMs)
    t.after(() => child.kill('SIGKILL'))
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
      ([stdout, stderr, [code, signal]]) => {
        clearTimeout(limit)
        return { stdout, stderr, code, signal }
      },
    )
    return { child, ended }
  }
  return {
    path,
    temporary,
    folder: join(temporary, `lido-${process.geteuid?.()}`),
    write: (name, source) => write(name, `import { pool, untilStdinEnds } from './pool.mjs'\n${source}`),
    start,
    run: (...args) => start(args).ended,
    lido: (...args) => start([command, ...args]).ended,
    /** Starts a program that can be inspected. Resolves when it has printed a line. */
    async startInspected(name, ...args) {
      const { child, ended } = start([name, ...args], { LIDO_INSPECT: '1' })
      await once(createInterface({ input: child.stdout }), 'line')
      await untilItWorks(() => lstatSync(join(temporary, `lido-${process.geteuid()}`, `${child.pid}.sock`)))
      return { child, ended }
    },
  }
}

/** A client of the socket that may send anything. */
async function openClient(place, { pid }) {
  const connection = connect(join(place.folder, `${pid}.sock`))
  await once(connection, 'connect')
  const lines = createInterface({ input: connection })[Symbol.asyncIterator]()
  return {
    connection,
    /** What the program sends until it ends. */
    async rest() {
      const all = []
      for await (const line of lines) all.push(`${line}\n`)
      return all.join('')
    },
    async ask(request) {
      connection.write(`${request}\n`)
      return JSON.parse((await lines.next()).value)
    },
  }
}

/** The slices of tasks in a trace: one for each task that a worker ran. */
function slicesOf(file) {
  const { traceEvents } = JSON.parse(readFileSync(file, 'utf8'))
  return traceEvents.filter(({ name, ph }) => name === 'spin' && ph === 'X')
}

const idle = `await pool.ready()
console.log('ready')
await untilStdinEnds()
`

/** The functions in the CPU profiles of a trace. */
function functionsOf(file) {
  const { traceEvents } = JSON.parse(readFileSync(file, 'utf8'))
  return traceEvents
    .filter(({ name }) => name === 'ProfileChunk')
    .flatMap(({ args }) => args.data.cpuProfile?.nodes ?? [])
    .map(({ callFrame }) => callFrame.functionName)
}

describe('the socket of LIDO_INSPECT=1', { skip: isWindows && 'Windows has pipes without files' }, () => {
  test('a program without LIDO_INSPECT opens no socket and loads no code for it', async t => {
    const place = openPlace(t)
    place.write(
      'app.mjs',
      `await pool.run(1)
const isLoaded = Object.getOwnPropertySymbols(globalThis).some(symbol => symbol.description?.startsWith('lido.inspected'))
console.log(isLoaded, process.moduleLoadList.includes('NativeModule inspector'))
`,
    )
    const { stdout, code } = await place.run('app.mjs')
    assert.equal(code, 0)
    assert.equal(stdout, 'false false\n')
    assert.deepEqual(readdirSync(place.temporary), [])
  })

  test('the socket belongs to its owner alone, and is removed when the program ends', async t => {
    const place = openPlace(t)
    place.write('app.mjs', idle)
    const { child, ended } = await place.startInspected('app.mjs')
    assert.equal(lstatSync(place.folder).mode & 0o777, 0o700)
    await untilItWorks(() =>
      assert.equal(lstatSync(join(place.folder, `${child.pid}.sock`)).mode & 0o777, 0o600),
    )
    child.stdin.end()
    assert.equal((await ended).code, 0)
    assert.deepEqual(readdirSync(place.folder), [])
  })

  test('a killed program leaves a socket, and the next program removes it', async t => {
    const place = openPlace(t)
    place.write('app.mjs', idle)
    const killed = await place.startInspected('app.mjs')
    killed.child.kill('SIGKILL')
    await killed.ended
    assert.deepEqual(readdirSync(place.folder), [`${killed.child.pid}.sock`])
    assert.match((await place.lido('top')).stdout, /^No program of yours can be inspected/)
    const next = await place.startInspected('app.mjs')
    await untilItWorks(() => assert.deepEqual(readdirSync(place.folder), [`${next.child.pid}.sock`]))
    next.child.stdin.end()
    await next.ended
  })

  for (const [title, make] of [
    ['a link', folder => symlinkSync('/tmp', folder)],
    ['a file', folder => writeFileSync(folder, '')],
    [
      'open to other users',
      folder => {
        mkdirSync(folder)
        chmodSync(folder, 0o777)
      },
    ],
  ]) {
    test(`a program warns and runs on when the folder of the sockets is ${title}`, async t => {
      const place = openPlace(t)
      make(place.folder)
      place.write('app.mjs', `console.log(await pool.run(1))\nprocess.once('warning', () => pool.close())`)
      const { stdout, stderr, code } = await place.start(['app.mjs'], { LIDO_INSPECT: '1' }).ended
      assert.equal(code, 0)
      assert.equal(stdout, '1\n')
      assert.match(stderr, /\[LIDO_INSPECT\] LidoWarning: LIDO_INSPECT=1 has no effect/)
    })
  }

  test('requests that are wrong get errors and harm nothing', async t => {
    const place = openPlace(t)
    place.write('app.mjs', idle)
    const { child, ended } = await place.startInspected('app.mjs')
    const client = await openClient(place, child)
    for (const [request, error] of [
      ['\0\xff garbage', /one line with a JSON object/],
      ['[]', /one line with a JSON object/],
      ['{"id":1}', /Unknown command undefined/],
      ['{"id":1,"command":"__proto__"}', /Unknown command "__proto__"/],
      ['{"id":1,"command":"trace"}', /'seconds' is undefined/],
      ['{"id":1,"command":"trace","seconds":1e9}', /'seconds' is 1000000000/],
      ['{"id":1,"command":"trace","seconds":1,"cpu":"yes"}', /'cpu' is "yes"/],
    ]) {
      assert.match((await client.ask(request)).error, error)
    }
    const flood = await openClient(place, child)
    assert.match((await flood.ask('x'.repeat(100_000))).error, /at most 65536 characters/)
    const { id, result } = await client.ask('{"id":"a","command":"stats"}')
    assert.equal(id, 'a')
    assert.equal(result.pid, child.pid)
    assert.equal(result.pools[0].label, 'images')
    client.connection.destroy()
    child.stdin.end()
    assert.equal((await ended).code, 0)
  })

  test('a client that leaves ends its recording', async t => {
    const place = openPlace(t)
    place.write('app.mjs', idle)
    const { child, ended } = await place.startInspected('app.mjs')
    const client = await openClient(place, child)
    client.connection.write('{"id":1,"command":"trace","seconds":600}\n')
    await client.ask('{"id":2,"command":"stats"}')
    client.connection.destroy()
    child.stdin.end()
    assert.deepEqual({ ...(await ended), stdout: '' }, { stdout: '', stderr: '', code: 0, signal: null })
  })
})

test('a program that ends during a recording gives it to the client first', { skip: isWindows }, async t => {
  const place = openPlace(t)
  place.write('app.mjs', idle)
  const { child, ended } = await place.startInspected('app.mjs')
  const client = await openClient(place, child)
  client.connection.write('{"id":1,"command":"trace","seconds":0.3}\n')
  await client.ask('{"id":2,"command":"stats"}')
  child.stdin.end()
  const answer = await client.rest()
  assert.match(answer, /^\{"id":1,"bytes":\d+\}\n\{"traceEvents":\[/)
  assert.ok(answer.endsWith('{"id":1,"bytes":0}\n'))
  assert.equal((await ended).code, 0)
})

describe('npx lido top', { skip: isWindows && 'it finds programs by their sockets' }, () => {
  test('top lists the programs with the pools of all copies of lido, and shows the workers of one', async t => {
    const place = openPlace(t)
    place.write(
      'app.mjs',
      `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const file = ${JSON.stringify(commonJs)}
// A second copy of lido.
delete require.cache[file]
const { Pool } = require(file)
const second = new Pool({ label: 'second', maxWorkers: 1 })
await pool.ready()
await pool.run(5)
for (let i = 0; i < 5; i++) pool.run(60_000).catch(() => {})
console.log('busy')
await untilStdinEnds()
await pool.destroy()
`,
    )
    const { child, ended } = await place.startInspected('app.mjs')
    assert.match(
      (await place.lido('top')).stdout,
      new RegExp(`^${child.pid} +app\\.mjs .* images, second$`, 'm'),
    )
    const { stdout, code } = await place.lido('top', String(child.pid), '--once')
    assert.equal(code, 0)
    assert.match(stdout, /^pool images {2}open {2}thread$/m)
    assert.match(stdout, /^ {2}queue 3/m)
    assert.match(stdout, /^ {2}waiting for: all busy$/m)
    assert.match(stdout, /^ {2}worker 1 +ready /m)
    assert.match(stdout, /^ {2}spin \(handler\.mjs\) /m)
    child.stdin.end()
    await ended
  })

  test('top prints a report each second until SIGINT when its output is no terminal', async t => {
    const place = openPlace(t)
    place.write('app.mjs', idle)
    const { child } = await place.startInspected('app.mjs')
    const top = place.start([command, 'top', String(child.pid)])
    let reports = 0
    for await (const line of createInterface({ input: top.child.stdout })) {
      if (line.startsWith('pool images') && ++reports === 2) top.child.kill('SIGINT')
    }
    assert.equal((await top.ended).code, 0)
  })
})

describe('npx lido trace PID', { skip: isWindows && 'it finds programs by their sockets' }, () => {
  test('trace PID writes the tasks that a running program runs', async t => {
    const place = openPlace(t)
    place.write(
      'app.mjs',
      `await pool.ready()
console.log('ready')
let isOver = false
void untilStdinEnds().then(() => { isOver = true })
while (!isOver) await pool.run(5)
`,
    )
    const { child, ended } = await place.startInspected('app.mjs')
    const { code, stdout, stderr } = await place.lido(
      'trace',
      String(child.pid),
      '--seconds',
      '0.5',
      '--out',
      'a.json',
    )
    assert.equal(stdout, '')
    assert.match(stderr, /^The trace is in a\.json\. Open it in Chrome DevTools.*\n$/)
    assert.equal(code, 0)
    assert.ok(slicesOf(join(place.path, 'a.json')).length > 5)
    child.stdin.end()
    assert.equal((await ended).code, 0)
  })

  test('a process that cannot be traced is named with the remedy', async t => {
    const place = openPlace(t)
    const { stderr, code } = await place.lido('trace', String(process.pid))
    assert.equal(code, 1)
    assert.match(stderr, /LIDO_INSPECT=1 node app\.js/)
    assert.match((await place.lido('trace', '2147483646')).stderr, /^No process has the id 2147483646\.$/m)
  })
})

describe('npx lido trace app.js', () => {
  const work = 'await Promise.all(Array.from({ length: 6 }, () => pool.run(5)))\n'
  for (const [title, source, expected] of [
    ['runs to its end', `${work}process.exitCode = 5`, { code: 5 }],
    ['closes its pool', `${work}await pool.close()`, { code: 0 }],
    ['calls process.exit()', `${work}process.exit(3)`, { code: 3 }],
    ['throws', `${work}throw new Error('thrown')`, { code: 1, stderr: /Error: thrown/ }],
    [
      'handles a signal by itself',
      `process.once('SIGTERM', () => process.exit(4))\n${work}process.kill(process.pid, 'SIGTERM')\nawait untilStdinEnds()`,
      { code: 4, isPosix: true },
    ],
    [
      'is killed by a signal',
      `${work}process.kill(process.pid, 'SIGINT')\nawait untilStdinEnds()`,
      { signal: 'SIGINT', isPosix: true },
    ],
    [
      'gets two signals at once',
      `${work}for (const signal of ['SIGINT', 'SIGTERM']) process.kill(process.pid, signal)\nawait untilStdinEnds()`,
      { signal: 'SIGINT', isPosix: true },
    ],
  ]) {
    const { code = null, signal = null, stderr = /^/, isPosix = false } = expected
    test(`a program that ${title} leaves its trace and keeps its exit code`, {
      skip: isPosix && isWindows,
    }, async t => {
      const place = openPlace(t)
      place.write('app.mjs', `console.log(process.argv[2], process.execArgv.length)\n${source}`)
      const ended = await place.lido('trace', 'app.mjs', '--out')
      assert.equal(ended.stdout, '--out 0\n')
      assert.match(ended.stderr, stderr)
      assert.match(ended.stderr, /^The trace is in lido-trace\.json\./m)
      assert.deepEqual({ code: ended.code, signal: ended.signal }, { code, signal })
      const file = join(place.path, 'lido-trace.json')
      assert.equal(slicesOf(file).length, 6)
      if (source.includes('close')) assert.ok(functionsOf(file).includes('spin'))
    })
  }

  test('a CommonJS program gets its trace in the named file', async t => {
    const place = openPlace(t)
    writeFileSync(
      join(place.path, 'app.cjs'),
      `const { Pool } = require(${JSON.stringify(commonJs)})
new Pool({ filename: require('node:path').join(__dirname, 'handler.mjs'), maxWorkers: 1 }).run(1, { name: 'spin' })
`,
    )
    const { code, stderr } = await place.lido(
      'trace',
      '--out',
      'other.json',
      '--no-cpu',
      '--seconds',
      '60',
      'app.cjs',
    )
    assert.equal(code, 0, stderr)
    assert.equal(slicesOf(join(place.path, 'other.json')).length, 1)
    assert.ok(!existsSync(join(place.path, 'lido-trace.json')))
  })

  test('wrong arguments are named', async t => {
    const place = openPlace(t)
    for (const [args, message, exitCode] of [
      [['--fly', 'app.mjs'], /Unknown option '--fly'/, 2],
      [['--seconds', 'x', 'app.mjs'], /'--seconds x'/, 2],
      [['--out', 'missing/a.json', 'app.mjs'], /missing.a\.json cannot be written/, 1],
      [[], /Name a program/, 2],
    ]) {
      const { code, stderr } = await place.lido('trace', ...args)
      assert.equal(code, exitCode)
      assert.match(stderr, message)
    }
  })
})
