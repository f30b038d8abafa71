// `npx lido help`, `npx lido init` and `npx lido bench`, as a user runs them.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { advise, resultTable, warningsFor, wrapped } from '../../bin/bench-report.js'
import { commandNames, helpOf, nearest } from '../../bin/help.js'
import { Progress } from '../../bin/progress.js'
import { compiler } from '../../scripts/compiler.js'
import { openFolder } from '../helpers/folder.js'
import { isAlive } from '../helpers/is-alive.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const command = join(root, 'bin', 'lido.js')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

function run(cwd, args, env = {}) {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...inherited } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    env: { ...inherited, ...env },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, stdout, stderr }
}

/** Runs a command that must succeed. Returns what it printed. */
function printed(cwd, args, env) {
  const { status, stdout, stderr } = run(cwd, args, env)
  assert.equal(status, 0, stdout + stderr)
  return stdout
}

/** A project with `lido`, and with other packages of this repository. */
function openProject(t, ...packages) {
  const place = openFolder(t)
  mkdirSync(join(place.path, 'node_modules'))
  symlinkSync(root, join(place.path, 'node_modules', 'lido'), 'junction')
  for (const name of packages) {
    const link = join(place.path, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link, 'junction')
  }
  return { ...place, lido: (...args) => run(place.path, [command, ...args]) }
}

describe('npx lido help', () => {
  test('each command has a help of at most 80 columns', () => {
    for (const name of [undefined, ...commandNames]) {
      const lines = helpOf(name, version).split('\n')
      assert.deepEqual(
        lines.filter(line => line.length > 80),
        [],
      )
      if (name !== undefined) assert.match(lines[0], new RegExp(`^npx lido ${name}`))
    }
  })

  test('the reference page has each command and each option of the help', () => {
    const page = readFileSync(join(root, 'docs/reference/command.md'), 'utf8')
    for (const name of commandNames) {
      assert.ok(page.includes(`\`npx lido ${name}`), name)
      const options = helpOf(name).match(/--[a-z-]+/g) ?? []
      // The guide of the command lists the option.
      for (const option of name === 'migrate' ? [] : options) assert.ok(page.includes(option), option)
    }
  })

  test('the list, the help of a command and --help print to stdout', () => {
    for (const args of [[], ['help'], ['--help'], ['-h']])
      assert.equal(printed('.', [command, ...args]), helpOf(undefined, version))
    for (const args of [
      ['help', 'bench'],
      ['bench', '--help'],
      ['bench', '-h'],
    ])
      assert.equal(printed('.', [command, ...args]), helpOf('bench'))
  })

  test('a reader that closes the pipe early causes no error', async () => {
    const child = spawn(process.execPath, [command, 'help'], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    assert.equal(errors, '')
    assert.equal(code, 0)
  })

  test('an unknown command ends with the exit code 2 and the nearest command', () => {
    for (const [args, message] of [
      [['bnech'], /Unknown command 'bnech'\. Did you mean 'bench'\?/],
      [['help', 'initt'], /Unknown command 'initt'\. Did you mean 'init'\?/],
      [['fly'], /Unknown command 'fly'\. The commands are init, bench, trace, top, migrate, help\./],
      [['top', '--fly'], /^Unknown option '--fly'\.\nSee: npx lido help top/],
      [['bench', 'a.js', '--paylod=1'], /^Unknown option '--paylod'\. Did you mean '--payload'\?\nSee: /],
    ]) {
      const { status, stdout, stderr } = run('.', [command, ...args])
      assert.equal(status, 2)
      assert.equal(stdout, '')
      assert.match(stderr, message)
    }
    assert.equal(nearest('tpo', commandNames), 'top')
    assert.equal(nearest('x', commandNames), undefined)
  })
})

describe('npx lido init', () => {
  for (const [title, files, names, start] of [
    [
      'an ES module',
      { 'package.json': '{ "type": "module" }' },
      ['pool.js', 'pool.test.js', 'work.js'],
      'import',
    ],
    ['CommonJS', { 'package.json': '{}' }, ['pool.js', 'pool.test.js', 'work.js'], 'const'],
    ['an empty folder', {}, ['pool.mjs', 'pool.test.mjs', 'work.mjs'], 'import'],
    [
      'a package that has only .mjs files',
      { 'package.json': '{}', 'main.mjs': '' },
      ['pool.mjs', 'pool.test.mjs', 'work.mjs'],
      'import',
    ],
  ]) {
    test(`in ${title}, the written test passes`, t => {
      const place = openProject(t)
      for (const [name, source] of Object.entries(files)) place.write(name, source)
      const { status, stdout, stderr } = place.lido('init')
      assert.equal(status, 0, stderr)
      const written = readdirSync(place.path).filter(name => /^(pool|work)/.test(name))
      assert.deepEqual(written, names)
      assert.ok(readFileSync(join(place.path, names[0]), 'utf8').includes(`\n${start} `))
      const [, testFile] = /node --test (\S+)/.exec(stdout)
      assert.match(printed(place.path, ['--test', testFile]), /pass 1\b/)
    })
  }

  test('in a TypeScript project, the written files compile and their test passes', t => {
    for (const [type, options, base] of [
      ['module', { module: 'nodenext' }, 'import.meta.url'],
      ['commonjs', { module: 'commonjs', moduleResolution: 'bundler' }, '__filename'],
    ]) {
      const place = openProject(t, 'tsx', '@types/node')
      place.write('package.json', JSON.stringify({ type, devDependencies: { tsx: '*', '@types/node': '*' } }))
      place.write(
        'tsconfig.json',
        `{ // strict\n "extends": "./base.json", "compilerOptions": ${JSON.stringify(options)}, }`,
      )
      place.write(
        'base.json',
        JSON.stringify({
          compilerOptions: { strict: true, target: 'es2022', noEmit: true, types: ['node'] },
        }),
      )
      mkdirSync(join(place.path, 'src'))
      const { status, stdout, stderr } = place.lido('init')
      assert.equal(status, 0, stderr)
      assert.deepEqual(readdirSync(join(place.path, 'src')), ['pool.test.ts', 'pool.ts', 'work.ts'])
      assert.ok(readFileSync(join(place.path, 'src/pool.ts'), 'utf8').includes(base))
      printed(place.path, [compiler, '-p', '.'])
      assert.match(stdout, /npx tsx --test src\/pool\.test\.ts/)
      const stripsTypes = Boolean(process.features.typescript)
      if (process.platform !== 'win32' && !stripsTypes)
        assert.match(stdout, /^ {2}NODE_OPTIONS='--import tsx' npx lido bench src\/work\.ts/m)
      assert.doesNotMatch(stdout, /npm install --save-dev|npm install tsx/)
      const args = ['--import', 'tsx', '--test', 'src/pool.test.ts']
      assert.match(printed(place.path, args), /pass 1\b/)
    }
  })

  test('in a CommonJS project of tsc --init, the written files compile', t => {
    const place = openProject(t, 'tsx', '@types/node')
    place.write('package.json', '{ "type": "commonjs" }')
    const options = { module: 'nodenext', target: 'esnext', strict: true, noEmit: true, types: [] }
    const config = { compilerOptions: { ...options, verbatimModuleSyntax: true } }
    place.write('tsconfig.json', JSON.stringify(config))
    const { stdout } = place.lido('init')
    assert.match(stdout, /npx tsx --test pool\.test\.mts/)
    assert.match(stdout, /"types": \["node"\]/)
    config.compilerOptions.types.push('node')
    place.write('tsconfig.json', JSON.stringify(config))
    printed(place.path, [compiler, '-p', '.'])
    assert.match(printed(place.path, ['--import', 'tsx', '--test', 'pool.test.mts']), /pass 1\b/)
  })

  test('JavaScript that the compiler only checks stays JavaScript', t => {
    const place = openProject(t)
    place.write('package.json', '{ "type": "module" }')
    place.write('tsconfig.json', '{ "compilerOptions": { "checkJs": true } }')
    place.write('main.js', '')
    assert.match(place.lido('init').stdout, /^ {2}pool\.test\.js /m)
  })

  test('where Node removes types and the compiler allows .ts imports, the test runs without a loader', t => {
    const place = openProject(t)
    place.write('package.json', '{ "type": "module" }')
    place.write(
      'tsconfig.json',
      '{ "compilerOptions": { "module": "nodenext", "allowImportingTsExtensions": true } }',
    )
    const { stdout } = place.lido('init')
    const stripsTypes = Boolean(process.features.typescript)
    assert.equal(stdout.includes('node --test pool.test.ts'), stripsTypes)
    assert.equal(
      readFileSync(join(place.path, 'pool.test.ts'), 'utf8').includes("from './pool.ts'"),
      stripsTypes,
    )
    if (stripsTypes) assert.match(printed(place.path, ['--test', 'pool.test.ts']), /pass 1\b/)
  })

  test('with Vitest or Jest, the test uses this runner', t => {
    for (const [runner, expected] of [
      ['vitest', /npx vitest run pool\.test\.mjs/],
      ['jest', /npx jest pool\.test\.js/],
    ]) {
      const place = openProject(t)
      place.write('package.json', JSON.stringify({ devDependencies: { [runner]: '*' } }))
      const { stdout } = place.lido('init')
      assert.match(stdout, expected)
      const file = readdirSync(place.path).find(name => name.startsWith('pool.test'))
      const source = readFileSync(join(place.path, file), 'utf8')
      assert.match(source, runner === 'vitest' ? /from 'vitest'/ : /require\('@jest\/globals'\)/)
      assert.match(source, /backend: 'inline', module: work/)
    }
  })

  test('an existing file is named, and nothing is written', t => {
    const place = openProject(t)
    place.write('package.json', '{}')
    place.write('src/work.js', 'mine')
    const { status, stderr } = place.lido('init')
    assert.equal(status, 1)
    assert.match(stderr, /^src\/work\.js exists\. Nothing is written\./)
    assert.deepEqual(readdirSync(join(place.path, 'src')), ['work.js'])
    assert.equal(place.lido('init', 'src/pool').status, 0)
    assert.deepEqual(readdirSync(join(place.path, 'src/pool')), ['pool.js', 'pool.test.js', 'work.js'])
    assert.equal(place.lido('init', 'src/work.js').status, 2)
    const refused = place.lido('init', 'src/work.js/pool')
    assert.match(refused.stderr, /^(ENOTDIR|ENOENT|EEXIST): .*\n$/)
    assert.equal(refused.status, 1)
  })

  test('the next steps use the package manager of the project', t => {
    const place = openFolder(t)
    place.write('package.json', '{}')
    place.write('pnpm-lock.yaml', '')
    assert.match(run(place.path, [command, 'init']).stdout, /^ {2}pnpm add lido /m)
  })
})

describe('npx lido bench', () => {
  const handlers = `export function spin({ ms }) {
  const end = performance.now() + ms
  while (performance.now() < end);
  return ms
}
export const wait = () => new Promise(resolve => setTimeout(resolve, 10))
export const fail = () => { throw new RangeError('no such page') }
export const functionOf = () => () => {}
let calls = 0
export const failLater = () => { if (++calls > 1) throw undefined }
export const add = n => n + 1
export const count = 7
`
  const figuresOf = (place, ...args) =>
    JSON.parse(
      printed(place.path, [command, 'bench', ...args, '--seconds', '0.1', '--workers', '1', '--json']),
    )

  test('a function that computes is measured on the main thread and in all pools of the project', t => {
    const place = openProject(t, 'piscina', 'tinypool')
    place.write('work.mjs', handlers)
    const args = ['work.mjs', '--name', 'spin', '--payload', '{"ms":2}']
    const { results, advice } = figuresOf(place, ...args)
    assert.deepEqual(
      results.map(({ kind, problem }) => [kind, problem]),
      ['main', 'lido', 'piscina', 'tinypool'].map(kind => [kind, undefined]),
    )
    assert.ok(results.every(({ rate, medianMs }) => rate > 0 && medianMs >= 2))
    assert.match(advice.at(-1), /piscina \d+\.\d+/)
    const shown = place.lido('bench', ...args, '--seconds', '0.1', '--workers', '1')
    assert.match(shown.stdout, /^spin of work\.mjs, 1 worker, Node v/)
    assert.match(shown.stdout, /^main thread +\d/m)
    assert.match(shown.stderr, /^1 of 4: main thread\n2 of 4: lido\n/)
  })

  test('a function that waits gets the advice to call it directly', t => {
    const place = openProject(t)
    place.write('work.mjs', handlers)
    place.write('payload.json', '{}')
    const { results, advice } = figuresOf(place, 'work.mjs', '--name', 'wait', '--payload', 'payload.json')
    assert.ok(results[0].activeShare < 0.2, String(results[0].activeShare))
    assert.match(advice[0], /^No pool: the function waits/)
  })

  test('a function with a parameter and without a payload is measured with a warning', t => {
    const place = openProject(t)
    place.write('work.mjs', handlers)
    const isWarned = (...args) =>
      figuresOf(place, 'work.mjs', '--name', ...args).warnings.some(text => /got no argument/.test(text))
    assert.ok(isWarned('add'))
    assert.ok(!isWarned('add', '--payload', '1'))
    assert.ok(!isWarned('wait'))
  })

  test('a short function of CommonJS is also measured with map()', t => {
    const place = openProject(t)
    place.write('work.cjs', 'module.exports = list => list.length')
    place.write('payload.mjs', 'export default () => [1, 2, 3]')
    const { results } = figuresOf(place, 'work.cjs', '--payload-module', 'payload.mjs')
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['main', 'lido', 'map'],
    )
    assert.ok(results.every(({ rate }) => rate > 0))
  })

  test('a function that uses context runs inline on the main thread, and fails in other pools', t => {
    const place = openProject(t, 'piscina')
    const source = `import { context } from 'lido/worker'
export default function spin(ms) {
  const end = performance.now() + ms
  while (performance.now() < end) context.throwIfCancelled()
}
`
    place.write('work.mjs', source)
    const { results } = figuresOf(place, 'work.mjs', '--payload', '2')
    assert.deepEqual(
      results.map(({ label, problem }) => [label, /^Error: 'context' of lido\/worker/.test(problem)]),
      [
        ['main thread (inline)', false],
        ['lido', false],
        [results[2].label, true],
      ],
    )
    assert.ok(results[0].medianMs >= 2)
  })

  test('--with installs the pools with npm into a temporary folder, and removes it', {
    skip: process.platform === 'win32',
  }, t => {
    const place = openProject(t)
    place.write('work.mjs', handlers)
    // It stands in for npm, and links the package instead of loading it.
    const npm = place.write(
      'bin/npm',
      `#!${process.execPath}
const { mkdirSync, symlinkSync } = require('node:fs')
if (process.argv[2] !== 'install') process.exit(1)
mkdirSync('node_modules')
symlinkSync(${JSON.stringify(join(root, 'node_modules', 'piscina'))}, 'node_modules/piscina')
`,
    )
    chmodSync(npm, 0o755)
    place.write('tmp/.keep', '')
    const env = { PATH: dirname(npm), TMPDIR: join(place.path, 'tmp') }
    const args = [
      'work.mjs',
      '--name',
      'spin',
      '--payload',
      '{"ms":1}',
      '--seconds',
      '0.05',
      '--workers',
      '1',
    ]
    const { stdout, stderr } = run(place.path, [command, 'bench', ...args, '--with', 'piscina'], env)
    assert.match(stderr, /^Installing piscina into .*lido-bench-/)
    assert.match(stdout, /^piscina \d+\.\d+\.\d+ +\d/m)
    assert.deepEqual(readdirSync(join(place.path, 'tmp')), ['.keep'])
  })

  test('a result of move() is measured', t => {
    const place = openProject(t)
    place.write(
      'work.mjs',
      "import { move } from 'lido'\nexport default () => ({ bytes: move(new Uint8Array(100_000)) })\n",
    )
    const { results } = figuresOf(place, 'work.mjs')
    assert.ok(results.every(({ problem, rate }) => problem === undefined && rate > 0))
    assert.equal(results[0].resultBytes, 0)
  })

  test('a signal also ends the process of a function that blocks', {
    skip: process.platform === 'win32',
  }, async t => {
    const place = openProject(t)
    const source = `import { writeFileSync } from 'node:fs'
export default file => {
  writeFileSync(file, String(process.pid))
  for (;;);
}
`
    place.write('work.mjs', source)
    const file = join(place.path, 'pid.txt')
    const args = [command, 'bench', 'work.mjs', '--payload', JSON.stringify(file)]
    const child = spawn(process.execPath, args, { cwd: place.path, stdio: 'ignore' })
    const isWritten = () => existsSync(file) && readFileSync(file, 'utf8') !== ''
    while (child.exitCode === null && !isWritten()) await wait(10)
    const pid = Number(readFileSync(file, 'utf8'))
    assert.ok(isAlive(pid))
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [143, null])
    while (isAlive(pid)) await wait(10)
  })

  test('a wrong argument or function ends with a message', t => {
    const place = openProject(t)
    place.write('work.mjs', handlers)
    place.write('broken.mjs', 'export default (')
    for (const [args, code, message] of [
      [[], 2, /Name the file of your function/],
      [['missing.mjs'], 2, /does not exist: missing\.mjs/],
      [['work.mjs'], 2, /has no function as its default export\. Choose one with --name: .*spin/],
      [['work.mjs', '--name', 'count'], 2, /exports no function 'count'/],
      [['work.mjs', '--name', 'fail'], 1, /The function fails: RangeError: no such page[\s\S]*--payload/],
      [['work.mjs', '--name', 'failLater'], 1, /\nError: undefined\n$/],
      [['.'], 2, /is no file: \./],
      [['work.mjs', '--name', 'functionOf'], 1, /The result of the function cannot be copied/],
      [
        ['work.mjs', '--name', 'spin', '--payload', '{ms:1}'],
        2,
        /is no JSON[\s\S]*need double quotes: --payload ./,
      ],
      [['work.mjs', '--payload', '1', '--payload-module', 'work.mjs'], 2, /and not both/],
      [
        ['work.mjs', '--name', 'add', '--payload-module', 'missing.mjs'],
        2,
        /--payload-module does not exist/,
      ],
      [['broken.mjs'], 1, /broken\.mjs cannot be loaded/],
      [['work.mjs', '--workers', '1.5'], 2, /whole number/],
      [['work.mjs', '--seconds', '0'], 2, /above 0/],
      [['work.mjs', '--with', 'poolifier'], 2, /knows piscina and tinypool/],
      [['work.mjs', 'work.mjs'], 2, /one argument too many/],
    ]) {
      const { status, stdout, stderr } = place.lido('bench', ...args)
      assert.match(stderr, message)
      assert.equal(status, code, stderr)
      assert.equal(stdout, '')
    }
    place.write('functions.mjs', 'export default { a() {} }')
    const { status, stderr } = place.lido(
      'bench',
      'work.mjs',
      '--name',
      'add',
      '--payload-module',
      'functions.mjs',
    )
    assert.match(stderr, /The payload cannot be copied/)
    assert.equal(status, 1)
  })

  const main = {
    kind: 'main',
    label: 'main thread',
    rate: 100,
    medianMs: 10,
    delayMs: 10,
    activeShare: 1,
    payloadBytes: 9,
    resultBytes: 9,
  }
  const lido = { kind: 'lido', label: 'lido', rate: 390, medianMs: 10.1, delayMs: 0.2 }
  for (const [title, results, sentences] of [
    [
      'that computes has a pool that helps',
      [main, lido],
      [/^A pool helps: lido ran 3\.9 times.*late by 200 µs, and by 10 ms/, /Leave maxWorkers at its default/],
    ],
    [
      'on one core keeps the main thread free',
      [main, { ...lido, rate: 98 }],
      [
        /^A pool runs no more calls a second here.*It helps if the main thread has other work/,
        /gained less than 4 times/,
      ],
    ],
    [
      'that is too short runs on the main thread',
      [
        { ...main, rate: 1e6, medianMs: 0.001 },
        { ...lido, rate: 1e5, medianMs: 0.02 },
        { kind: 'map', rate: 9e5 },
      ],
      [/^The function is too short for single calls.*here pool\.map\(\) is not faster either/],
    ],
    [
      'that is short gains by map()',
      [
        { ...main, rate: 2e5, medianMs: 0.005 },
        { ...lido, rate: 1e5, medianMs: 0.02 },
        { kind: 'map', rate: 6e5 },
      ],
      [/pool\.map\(\) reached 600,000 items a second, 3\.0 times/],
    ],
    [
      'with a large payload gets the names of move() and share()',
      [
        { ...main, payloadBytes: 5 * 2 ** 20 },
        { ...lido, medianMs: 14 },
      ],
      [/^A pool helps/, /maxWorkers/, /^The payload has 5\.0 MiB.*move\(\).*share\(\)/],
    ],
    [
      'whose payload takes longer than its run',
      [
        { ...main, payloadBytes: 90 * 1024 },
        { ...lido, rate: 60, medianMs: 30 },
      ],
      [
        /^A call through the pool adds 20 ms, and the function runs for only 10 ms/,
        /^The payload has 90 KiB/,
      ],
    ],
    [
      'whose single call is slow, but whose rate is higher, has a pool that helps',
      [
        { ...main, resultBytes: 90 * 1024 },
        { ...lido, medianMs: 30 },
      ],
      [/^A pool helps/, /maxWorkers/, /^The result has 90 KiB.*or return less\./],
    ],
    [
      'is compared with other pools, also where lido is behind',
      [
        main,
        lido,
        { kind: 'piscina', label: 'piscina 5.3.2', rate: 380 },
        { kind: 'tinypool', label: 'tinypool 2.2.0', rate: 780 },
      ],
      [
        /^A pool helps/,
        /maxWorkers/,
        /^lido and piscina 5\.3\.2 are level here\. tinypool 2\.2\.0 ran 2\.0 times as many calls a second as lido\./,
      ],
    ],
  ]) {
    test(`the advice: a function ${title}`, () => {
      const advice = advise(results, 4, 4)
      assert.equal(advice.length, sentences.length, advice.join('\n'))
      for (const [index, sentence] of sentences.entries()) assert.match(advice[index], sentence)
      for (const line of advice.flatMap(wrapped)) assert.ok(line.length <= 80, line)
    })
  }

  test('a busy machine gets a warning', () => {
    assert.deepEqual(warningsFor(0.4, 4), [])
    assert.match(warningsFor(3, 4)[0], /\(load 3\.0, 4 cores\).*not reliable/)
  })

  test('a pool in which the function fails is shown, and not compared', () => {
    const failed = { kind: 'piscina', label: 'piscina 5.3.2', problem: 'TypeError: no setup' }
    assert.deepEqual(resultTable([main, lido, failed]).slice(3), [
      'piscina 5.3.2  fails',
      '',
      'piscina 5.3.2 fails: TypeError: no setup',
    ])
    assert.doesNotMatch(advise([main, lido, failed], 4, 4).join('\n'), /piscina/)
  })
})

test('progress is a bar on a terminal, and lines elsewhere', async () => {
  for (const isTTY of [true, false]) {
    const output = Object.assign(new PassThrough(), { isTTY })
    const progress = new Progress(2, 1e9, output)
    progress.next('one')
    progress.next('two')
    progress.end()
    output.end()
    const shown = (await text(output)).replaceAll('\r\x1b[K', '|')
    const bars = `|${'·'.repeat(24)} 1 of 2  one|${'█'.repeat(12)}${'·'.repeat(12)} 2 of 2  two|`
    assert.equal(shown, isTTY ? bars : '1 of 2: one\n2 of 2: two\n')
  }
})
