// The programs of docs/start.md and of the recipes run exactly as they are written there, in the folder of a user.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { startDatabase } from '../../examples/machines/database.js'
import { recipePackages } from '../setups/recipe-packages.js'
import { project, root, write } from './installed.js'
import { addPackages, codeBlocks, readPage, withServer, writePrograms } from './page-programs.js'

const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const recipe = name => readPage(`docs/recipes/${name}.md`)
const tested = new Set()

mkdirSync(join(project, 'node_modules', '@types'), { recursive: true })
addPackages('@types/node', 'bottleneck', 'bullmq', 'cockatiel', 'p-memoize', 'p-throttle', 'pg', 'pino')

/** Defines a test of one recipe. `use` gets the page, the folder for its programs, and the context of the test. */
function recipeTest(name, title, use) {
  tested.add(`${name}.md`)
  test(title, t => use(recipe(name), name, t))
}

/** Runs a program in the folder of its page, which it may use as its working directory. Returns what it printed. */
function output(folder, file, ...flags) {
  return execFileSync(process.execPath, [...flags, file], {
    cwd: join(project, folder),
    encoding: 'utf8',
  }).trimEnd()
}

test('the programs of start.md count primes in ES modules, CommonJS and TypeScript', async () => {
  const page = readPage('docs/start.md')
  assert.deepEqual(writePrograms(page, 'start'), [
    ...['primes.mjs', 'main.mjs', 'primes.cjs', 'main.cjs', 'primes.ts', 'main.ts', 'ranges.mjs'],
  ])
  for (const file of ['main.mjs', 'main.cjs', 'ranges.mjs'])
    assert.equal(output('start', file).split('\n').at(-1), '78498')
  write('start/package.json', '{ "type": "module" }')
  if (process.features.typescript) assert.equal(output('start', 'main.ts'), '78498')
  const [, flags] = /npx tsc (.*)/.exec(page)
  execFileSync(process.execPath, [compiler, ...flags.split(' ')], {
    cwd: join(project, 'start'),
    stdio: 'inherit',
  })
  assert.equal(output('start', 'main.js'), '78498')
})

recipeTest(
  'images',
  'the program of images.md makes thumbnails, and reports a damaged image',
  (page, folder) => {
    // Stands for the package pngjs: same functions, and a format of its own.
    write('node_modules/pngjs/package.json', '{ "name": "pngjs", "main": "./index.js" }')
    write(
      'node_modules/pngjs/index.js',
      `class PNG {
      constructor({ width, height, data = Buffer.alloc(width * height * 4) }) {
        Object.assign(this, { width, height, data })
      }
      static sync = {
        read(bytes) {
          if (bytes.length < 8) throw new Error('Invalid file signature')
          return new PNG({ width: bytes.readUInt32LE(0), height: bytes.readUInt32LE(4), data: bytes.subarray(8) })
        },
        write({ width, height, data }) {
          const head = Buffer.alloc(8)
          head.writeUInt32LE(width, 0)
          head.writeUInt32LE(height, 4)
          return Buffer.concat([head, data])
        },
      }
    }
    module.exports = { PNG }`,
    )
    writePrograms(page, folder)
    const image = Buffer.alloc(8 + 400 * 100 * 4, 7)
    image.writeUInt32LE(400, 0)
    image.writeUInt32LE(100, 4)
    for (const name of ['a.png', 'b.png']) write(`${folder}/images/${name}`, image)
    write(`${folder}/images/damaged.png`, 'no')
    const lines = output(folder, 'main.mjs').split('\n')
    assert.equal(lines.at(-1), '2 thumbnails')
    assert.ok(lines.at(-2).includes('of 3, 0 s left'), lines.at(-2))
    const small = readFileSync(join(project, folder, 'thumbnails', 'a.png'))
    assert.deepEqual(
      [small.readUInt32LE(0), small.readUInt32LE(4), small.length],
      [200, 50, 8 + 200 * 50 * 4],
    )
  },
)

recipeTest('csv', 'the program of csv.md sums up an NDJSON file', (page, folder) => {
  const line = index => JSON.stringify({ country: index % 2 === 0 ? 'de' : 'fr', amount: index })
  write(`${folder}/orders.ndjson`, Array.from({ length: 2_500 }, (_, index) => line(index)).join('\n'))
  writePrograms(page, folder)
  const evenSum = 1_250 * 1_249
  assert.deepEqual(
    new Set(output(folder, 'main.mjs').replace(/[{} ]/g, '').split(',')),
    new Set([`de:${evenSum}`, `fr:${evenSum + 1_250}`]),
  )
})

recipeTest('passwords', 'the server of passwords.md answers 200, 401, 400 and 503', async (page, folder) => {
  await withServer(page, folder, 'server.mjs', async address => {
    const status = async (user, password) => {
      const response = await fetch(address, { method: 'POST', body: JSON.stringify({ user, password }) })
      return response.status
    }
    assert.equal(await status('ada', 'correct horse'), 200)
    assert.equal(await status('ada', 'wrong'), 401)
    assert.equal(await status('eve', 'no user has this password'), 401)
    assert.equal((await fetch(address, { method: 'POST', body: 'no JSON' })).status, 400)
    assert.equal(await (await fetch(`${address}/health`)).text(), 'ok')
    const flood = await Promise.all(Array.from({ length: 300 }, () => status('ada', 'correct horse')))
    assert.deepEqual(new Set(flood), new Set([200, 503]))
  })
})

recipeTest(
  'server-sent-events',
  'the server of server-sent-events.md sends the page, the progress and the result',
  async (page, folder) => {
    await withServer(page, folder, 'server.mjs', async address => {
      assert.ok((await (await fetch(address)).text()).includes("new EventSource('/events')"))
      const events = (await (await fetch(`${address}/events`)).text()).trimEnd().split('\n\n')
      const [, result] = /^event: result\ndata: (.*)$/.exec(events.at(-1))
      assert.ok(Math.abs(Number(result) - Math.PI) < 0.05, result)
      assert.equal(events.at(-2), 'event: progress\ndata: 1')
    })
  },
)

recipeTest('warm-model', 'the server of warm-model.md finds the nearest vector', async (page, folder) => {
  await withServer(page, folder, 'server.mjs', async address => {
    assert.equal(await (await fetch(`${address}/?x=0.2&y=0.9`)).text(), 'north')
    assert.equal(await (await fetch(`${address}/?x=-3&y=1`)).text(), 'west')
  })
})

recipeTest('streaming', 'the server of streaming.md streams the matches of a file', async (page, folder) => {
  write(`${folder}/server.log`, 'ok\nan error 1\nok\nan error 2\n')
  await withServer(page, folder, 'server.mjs', async address => {
    const lines = await (await fetch(`${address}/?word=error`)).text()
    assert.deepEqual(
      lines
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
      [
        { number: 2, line: 'an error 1' },
        { number: 4, line: 'an error 2' },
      ],
    )
  })
})

recipeTest('request-id', 'the log lines of request-id.md have the id of their request', (page, folder) => {
  writePrograms(page, folder)
  const lines = output(folder, 'main.mjs').split('\n').sort()
  assert.deepEqual(lines, [
    ...['[a1] computing 2025', '[a1] done', '[a1] result 4050'],
    ...['[b2] computing 2026', '[b2] done', '[b2] result 4052'],
  ])
  const line = JSON.parse(output(folder, 'pino-main.mjs'))
  assert.deepEqual([line.request, line.handler, line.year], [{ id: 'c3' }, 'default', 2027])
})

recipeTest('testing', 'the tests of testing.md pass', (page, folder) => {
  writePrograms(page, folder)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const report = execFileSync(process.execPath, ['--test', '--test-reporter=tap', 'price.test.mjs'], {
    cwd: join(project, folder),
    env,
    encoding: 'utf8',
  })
  assert.match(report, /^# pass 2$/m)
  assert.match(report, /^# fail 0$/m)
})

recipeTest(
  'containers',
  'the server of containers.md answers, and exits on SIGTERM',
  async (page, folder) => {
    writePrograms(recipe('shutdown'), folder)
    await withServer(page, folder, 'server.mjs', async (address, server) => {
      assert.equal((await fetch(`${address}/ready`)).status, 200)
      const sum = Array.from({ length: 1_000_000 }, (_, index) => Math.sqrt(index)).reduce(
        (all, root) => all + root,
      )
      assert.equal(Number(await (await fetch(address)).text()), Math.round(sum))
      assert.equal((await (await fetch(`${address}/stats`)).json()).state, 'open')
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      while ((await fetch(`${address}/ready`)).status !== 503);
      assert.deepEqual(await ended, [0, null])
    })
    for (const words of ['FROM node:', 'terminationGracePeriodSeconds: 45'])
      assert.ok(page.includes(words), words)
  },
)

/** Resolves with a request that the server has accepted and not answered. */
async function acceptedRequest(address) {
  const accepted = request(`${address}/accepted`, { agent: false, headers: { expect: '100-continue' } }).end()
  await once(accepted, 'continue')
  return accepted
}

/** The answer to a request that the server has accepted before it gets SIGTERM. */
async function answerDuringStop(address, server) {
  const accepted = await acceptedRequest(address)
  server.kill('SIGTERM')
  const [response] = await once(accepted, 'response')
  return response
}

recipeTest(
  'shutdown',
  'the server of shutdown.md answers an accepted request after SIGTERM',
  async (page, folder) => {
    await withServer(page, folder, 'server.mjs', async (address, server) => {
      const ended = once(server, 'exit')
      const response = await answerDuringStop(address, server)
      assert.equal(await text(response), 'order accepted')
      assert.deepEqual(await ended, [0, null])
    })
  },
)

recipeTest(
  'shutdown',
  'the server of shutdown.md answers 503 and exits with code 1 when a request takes too long',
  async page => {
    const slow = page.replace('sleep(500)', 'sleep(600_000)').replace('limitMs: 10_000', 'limitMs: 100')
    await withServer(slow, 'shutdown-limit', 'server.mjs', async (address, server) => {
      const ended = once(server, 'exit')
      const response = await answerDuringStop(address, server)
      assert.equal(response.statusCode, 503)
      assert.deepEqual(await ended, [1, null])
    })
  },
)

/** Whether the server still accepts connections. */
async function accepts(address) {
  const socket = connect(new URL(address).port, 'localhost')
  return await once(socket, 'connect').then(
    () => socket.destroy() !== undefined,
    () => false,
  )
}

recipeTest(
  'shutdown',
  'a second signal ends the server of shutdown.md while a request still runs',
  async page => {
    const slow = page.replace('sleep(500)', 'sleep(600_000)')
    await withServer(slow, 'shutdown-twice', 'server.mjs', async (address, server) => {
      const ended = once(server, 'exit')
      const failed = once(await acceptedRequest(address), 'error')
      server.kill('SIGTERM')
      while (await accepts(address));
      server.kill('SIGTERM')
      assert.deepEqual(await ended, [null, 'SIGTERM'])
      assert.equal((await failed)[0].code, 'ECONNRESET')
    })
  },
)

recipeTest(
  'debugging',
  'the program of debugging.md runs inline, and writes the profile of its worker',
  (page, folder) => {
    writePrograms(page, folder)
    const profiled = output(folder, 'main.mjs', '--cpu-prof', '--cpu-prof-dir=profiles')
    assert.match(profiled, /^0\n0\n0\ndefault: [\d.]+ ms$/)
    const profiles = readdirSync(join(project, folder, 'profiles'))
    assert.ok(
      profiles.some(name =>
        readFileSync(join(project, folder, 'profiles', name), 'utf8').includes('slowSort'),
      ),
      profiles.join(),
    )
    const inline = execFileSync(process.execPath, ['main.mjs'], {
      cwd: join(project, folder),
      env: { ...process.env, LIDO_BACKEND: 'inline' },
      encoding: 'utf8',
    })
    assert.match(inline, /^0\n0\n0\ndefault: [\d.]+ ms\n$/)
  },
)

recipeTest('native-addons', 'the program of native-addons.md goes on after a crash', (page, folder) => {
  writePrograms(page, folder)
  const [, shown] = /```\n(a\.doc.*?)```/s.exec(page)
  assert.equal(output(folder, 'main.mjs'), shown.trimEnd())
})

recipeTest('webassembly', 'the program of webassembly.md adds numbers', (page, folder) => {
  writePrograms(page, folder)
  const [, script] = /^node -e "(.*)"$/m.exec(page)
  execFileSync(process.execPath, ['-e', script], { cwd: join(project, folder) })
  assert.equal(output(folder, 'main.mjs'), '[ 3, 42 ]')
})

recipeTest('sqlite', 'the program of sqlite.md prints what the page shows', async (page, folder, t) => {
  if (!(await hasSqlite())) return t.skip('this Node has no node:sqlite')
  writePrograms(page, folder)
  const [, shown] = /^```\n(\d.*?)^```/ms.exec(page)
  assert.equal(`${output(folder, 'main.mjs')}\n`, shown)
})

const hasSqlite = () =>
  import('node:sqlite').then(
    () => true,
    () => false,
  )

recipeTest('large-data', 'the program of large-data.md blurs an image in shared memory', (page, folder) => {
  writePrograms(page, folder)
  assert.equal(output(folder, 'main.mjs'), 'Uint8Array(3) [ 66, 133, 66 ]')
})

recipeTest(
  'many-machines',
  'the server of many-machines.md starts a job and gives its result',
  async (page, folder, t) => {
    const database = await startDatabase()
    t.after(() => database.stop())
    const env = { DATABASE_URL: database.url }
    await withServer(
      page,
      folder,
      'server.mjs',
      async address => {
        const host = spawn(process.execPath, ['host.mjs'], {
          cwd: join(project, folder),
          env: { ...process.env, ...env },
          stdio: 'inherit',
        })
        const ended = once(host, 'exit')
        t.after(() => host.kill('SIGKILL'))
        const started = await fetch(`${address}/start/999999`)
        assert.equal(started.status, 202)
        const result = await fetch(`${address}/result/${await started.text()}`)
        assert.deepEqual(await result.json(), [3, 3, 3, 7, 11, 13, 37])
        assert.equal((await fetch(`${address}/result/unknown`)).status, 404)
        assert.equal((await fetch(`${address}/favicon.ico`)).status, 404)
        host.kill('SIGTERM')
        assert.deepEqual(await ended, [0, null])
      },
      env,
    )
  },
)

recipeTest(
  'tenants',
  'the caller of tenants.md gets the results of small tenants before most jobs of the large one',
  async (page, folder, t) => {
    const database = await startDatabase()
    t.after(() => database.stop())
    writePrograms(page, folder)
    const settings = { cwd: join(project, folder), env: { ...process.env, DATABASE_URL: database.url } }
    const host = spawn(process.execPath, ['host.mjs'], { ...settings, stdio: 'inherit' })
    const ended = once(host, 'exit')
    t.after(() => host.kill('SIGKILL'))
    const printed = execFileSync(process.execPath, ['caller.mjs'], { ...settings, encoding: 'utf8' })
    const [, shown] = /```\n(\[ 'anna.*?)```/s.exec(page)
    assert.equal(printed, shown)
    host.kill('SIGINT')
    assert.deepEqual(await ended, [0, null])
  },
)

recipeTest('limits', 'the programs of limits.md print what the page shows', (page, folder) => {
  writePrograms(page, folder)
  const blocks = [...page.matchAll(/^```(\w*)\n(.*?)\n```$/gms)]
  const shown = blocks.filter(([, language]) => language === '').map(([, , lines]) => lines)
  assert.deepEqual(
    ['tenants.mjs', 'breaker.mjs', 'memo.mjs'].map(file => output(folder, file)),
    shown,
  )
  assert.equal(output(folder, 'rate.mjs'), 'report of anna')
})

test('every recipe has a test, a line in the index and at least one program', () => {
  const pages = readdirSync(join(root, 'docs/recipes')).filter(name => name !== 'README.md')
  // `npm run setups` runs the others.
  for (const name of Object.keys(recipePackages)) tested.add(`${name}.md`)
  assert.deepEqual([...tested].sort(), pages.sort())
  const index = recipe('README')
  for (const name of pages) {
    assert.ok(index.includes(`(${name})`), name)
    assert.ok(codeBlocks(readPage(`docs/recipes/${name}`)).length > 0, name)
  }
})
