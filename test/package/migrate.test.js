// `npx lido migrate`: programs of the peers run before and after it, and print the same. A file that needs decisions changes its import.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { confirm } from '../../packages/migrate/src/confirm.js'
import { migrate, migrateAll } from '../../packages/migrate/src/migrate.js'
import { createProgress } from '../../packages/migrate/src/progress.js'
import { installedPackage, project, root, write } from './installed.js'
import { addPackages } from './page-programs.js'

addPackages('lido-migrate', 'piscina', 'tinypool', 'workerpool')
const command = join(installedPackage, 'bin', 'lido.js')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

function lido(folder, args, env = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd: join(project, folder),
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

function output(folder, file) {
  return execFileSync(process.execPath, [file], { cwd: join(project, folder), encoding: 'utf8' }).trimEnd()
}

function read(folder, file) {
  return readFileSync(join(project, folder, file), 'utf8')
}

/** Real-looking programs: a file with a pool, a file with a worker, and what they print. */
const programs = {
  'piscina in an ES module': {
    main: 'main.mjs',
    files: {
      'main.mjs': `import os from 'node:os';
import Piscina, { move } from 'piscina';

const pool = new Piscina({
  filename: new URL('./worker.mjs', import.meta.url).href,
  minThreads: 1,
  maxThreads: Math.min(2, os.availableParallelism()),
  idleTimeout: 5_000,
  useAtomics: false,
});
pool.on('error', error => console.error(error));

async function thumbnail(bytes, signal) {
  if (pool.queueSize > 100) throw new Error('busy');
  return await pool.run(move(bytes), { name: 'halve', signal });
}

console.log(await thumbnail(Uint8Array.of(1, 2, 3, 4)));
console.log(await pool.run('lido'));
const aborted = await pool.run(1, { name: 'wait', signal: AbortSignal.timeout(50) }).catch(error => error.name);
console.log(aborted);
await pool.destroy();
`,
      'worker.mjs': `import { move } from 'piscina'
export default text => text.toUpperCase()
export const halve = bytes => move(bytes.filter((_, index) => index % 2 === 0))
export const wait = () => new Promise(() => setInterval(() => {}, 1000))
`,
    },
    printed: 'Uint8Array(2) [ 1, 3 ]\nLIDO\nAbortError',
    imports: /^import \{ move, Pool \} from 'lido';$/m,
  },
  'piscina in CommonJS, in a class': {
    main: 'main.cjs',
    files: {
      'main.cjs': `const { resolve } = require('path')
const { Piscina } = require('piscina')

class Service {
  #pool
  constructor(maxThreads) {
    this.#pool = new Piscina({ filename: resolve(__dirname, 'worker.cjs'), maxThreads, workerData: 5, stricterFIFO: true })
  }
  compute(value) {
    return this.#pool.run(value)
  }
  close() {
    return this.#pool.close()
  }
}

async function main() {
  const service = new Service(2)
  console.log(await Promise.all([1, 2].map(value => service.compute(value))))
  await service.close()
}
main()
`,
      'worker.cjs': `const Piscina = require('piscina')
module.exports = value => value * Piscina.workerData
`,
    },
    printed: '[ 5, 10 ]',
    imports: /^const \{ Pool \} = require\('lido'\)$/m,
  },
  'tinypool with processes': {
    main: 'main.mjs',
    files: {
      'main.mjs': `import { Tinypool } from "tinypool"

const pool = new Tinypool({
  filename: new URL("./worker.mjs", import.meta.url).href,
  runtime: "child_process",
  minThreads: 1,
  maxThreads: 1,
  maxMemoryLimitBeforeRecycle: 200 * 1024 * 1024,
  teardown: "teardown",
})
console.log(await pool.run({ a: 1 }))
await pool.recycleWorkers()
console.log(await pool.run({ a: 2 }, { name: "double" }))
await pool.destroy()
`,
      'worker.mjs': `export default value => value.a + 1
export const double = value => value.a * 2
export const teardown = () => {}
`,
    },
    printed: '2\n4',
    imports: /^import \{ Pool \} from "lido"$/m,
  },
  'workerpool in CommonJS': {
    main: 'main.cjs',
    files: {
      'main.cjs': `const path = require('path')
const workerpool = require('workerpool')

const pool = workerpool.pool(path.join(__dirname, 'worker.cjs'), {
  maxWorkers: 2,
  workerType: 'thread',
})

async function main() {
  console.log(await pool.exec('add', [3, 4]))
  console.log(await pool.exec('fibonacci', [await pool.exec('add', [5, 5])]).timeout(60_000))
  console.log(await pool.exec('hello'))
  console.log(await pool.exec('wait').timeout(100).catch(error => 'too late'))
  const worker = await pool.proxy()
  console.log(await worker.add(1, 1))
  await pool.terminate()
}
main()
`,
      'worker.cjs': `const workerpool = require('workerpool')

function add(a, b) {
  return a + b
}

workerpool.worker({
  add,
  fibonacci: function fibonacci(n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
  },
  hello: () => 'hello',
  wait: () => new Promise(resolve => setTimeout(resolve, 60_000)),
})
`,
    },
    printed: '7\n55\nhello\ntoo late\n2',
    imports: /^const \{ Pool \} = require\('lido'\)$/m,
  },
  'workerpool in ES modules': {
    main: 'main.mjs',
    files: {
      'main.mjs': `import { fileURLToPath } from 'node:url'
import workerpool from 'workerpool'

const pool = workerpool.pool(fileURLToPath(new URL('./worker.mjs', import.meta.url)))
console.log(await pool.exec('sum', [[1, 2, 3], 10]))
console.log(await pool.exec('twice', [4]))
console.log(await pool.exec('slowly', [5]))
await pool.terminate(true)
`,
      'worker.mjs': `import { worker } from 'workerpool'

function total(numbers, start) {
  return numbers.reduce((sum, number) => sum + number, start)
}
worker({
  sum: total,
  twice: number => number * 2,
  async slowly(number) {
    await null
    return number
  },
})
`,
    },
    printed: '16\n8\n5',
    imports: /^import \{ Pool \} from 'lido'$/m,
  },
}

describe('lido migrate', () => {
  for (const [title, { main, files, printed, imports }] of Object.entries(programs)) {
    test(`a program of ${title} prints the same before and after`, () => {
      const folder = `migrate/${title.replaceAll(/\W+/g, '-')}`
      for (const [name, text] of Object.entries(files)) write(join(folder, name), text)
      assert.equal(output(folder, main), printed)

      const shown = lido(folder, ['migrate'])
      assert.equal(shown.status, 0, shown.stderr)
      assert.match(shown.stdout, /^--- main\.[cm]js$/m)
      assert.match(shown.stdout, /^\+.*new Pool\(/m)
      assert.match(shown.stdout, /Nothing is written/)
      assert.equal(read(folder, main), files[main])

      const written = lido(folder, ['migrate', '--write'])
      assert.match(written.stdout, /^Changed \d files?\.$/m)
      for (const name of Object.keys(files)) {
        assert.doesNotMatch(read(folder, name), /piscina|tinypool|workerpool|Piscina|Tinypool/)
      }
      assert.match(read(folder, main), imports)
      assert.equal(output(folder, main), printed)
      assert.match(
        lido(folder, ['migrate', '--write']).stdout,
        /^No file uses piscina, tinypool or workerpool/,
      )
    })
  }

  test('a program that changes partially prints the same, and the command says so', () => {
    const folder = 'migrate/partial'
    const files = {
      'main.mjs': `import { join } from 'node:path'
import Piscina from 'piscina'
import workers from './workers.mjs'

export const pool = new Piscina({
  filename: join(import.meta.dirname, 'upper.mjs'),
  loadBalancer: (task, [worker]) => worker,
})
console.log(await pool.run('lido'), await workers.exec('add', [1, 2]))
await pool.destroy()
await workers.terminate()
`,
      'workers.mjs': `import workerpool from 'workerpool'
export default workerpool.pool('./add.mjs', { maxWorkers: 1 })
`,
      'add.mjs': `import workerpool from 'workerpool'
const add = (a, b) => a + b
workerpool.worker({ add })
`,
      'upper.mjs': 'export default text => text.toUpperCase()\n',
    }
    for (const [name, text] of Object.entries(files)) write(join(folder, name), text)
    assert.equal(output(folder, 'main.mjs'), 'LIDO 3')
    const { stdout } = lido(folder, ['migrate', '--write'])
    assert.match(stdout, /^Only the import changes\..*\n(.*\n)* {2}main\.mjs:7: 'loadBalancer'/m)
    assert.match(stdout, /^3 files have comments TODO\(lido\)\./m)
    for (const name of ['main.mjs', 'workers.mjs', 'add.mjs']) {
      assert.equal(undone(read(folder, name)), files[name])
      assert.match(read(folder, name), /from 'lido\/(piscina|workerpool)'/)
    }
    assert.equal(output(folder, 'main.mjs'), 'LIDO 3')
    assert.match(lido(folder, ['migrate', '--write']).stdout, /^No file to change\.$/m)
  })

  test('a TypeScript program of piscina compiles after the change', () => {
    const folder = 'migrate/typescript'
    addPackagesOfTypes()
    const service = `import { Piscina } from 'piscina'

export class Service {
  private pool?: Piscina<number, string>

  start(maxThreads: number): void {
    this.pool ??= new Piscina<number, string>({ filename: __filename, maxThreads, atomics: 'disabled' })
  }

  async run(value: number): Promise<string> {
    return this.pool!.run(value)
  }
}
`
    write(`${folder}/service.ts`, service)
    write(
      `${folder}/tsconfig.json`,
      JSON.stringify({
        compilerOptions: {
          module: 'commonjs',
          moduleResolution: 'node10',
          ignoreDeprecations: '6.0',
          target: 'es2022',
          strict: true,
          types: ['node'],
          noEmit: true,
        },
      }),
    )
    const { stdout } = lido(folder, ['migrate', '--write'])
    assert.match(stdout, /^ {2}service\.ts:4: Type parameters are removed/m)
    const changed = read(folder, 'service.ts')
    assert.match(changed, /private pool\?: Pool\n/)
    assert.match(changed, /new Pool\(\{ filename: __filename, maxWorkers: maxThreads \}\)/)
    const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
    execFileSync(process.execPath, [compiler, '-p', join(project, folder)], { stdio: 'inherit' })
  })

  test('without lido-migrate, lido installs nothing and says how', () => {
    // A copy of the command, far from an installed lido-migrate.
    write(
      '../alone/node_modules/lido/package.json',
      JSON.stringify({ name: 'lido', version, type: 'module' }),
    )
    const alone = join(project, '../alone/node_modules/lido/bin/lido.js')
    cpSync(dirname(command), dirname(alone), { recursive: true })
    const { status, stderr } = spawnSync(process.execPath, [alone, 'migrate', 'src', '--write'], {
      cwd: join(project, '../alone'),
      env: { ...process.env, npm_execpath: '/no/such/npm-cli.js', PATH: '' },
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.match(stderr, /npm install --save-dev lido-migrate@/)
  })

  test('lido prints its help and its version, and refuses an unknown command', () => {
    assert.match(lido('.', []).stdout, /npx lido migrate/)
    assert.equal(lido('.', ['--version']).stdout.trim(), version)
    const { status, stderr } = lido('.', ['fly'])
    assert.equal(status, 2)
    assert.match(stderr, /Unknown command 'fly'/)
  })

  test('confirm() accepts yes from a terminal, and asks nobody without one', async () => {
    for (const [answer, isTTY, expected] of [
      ['y\n', true, true],
      ['Yes\n', true, true],
      ['\n', true, false],
      ['no\n', true, false],
      ['y\n', false, false],
    ]) {
      const [input, screen] = [new PassThrough(), new PassThrough()]
      Object.assign(input, { isTTY })
      Object.assign(screen, { isTTY })
      input.write(answer)
      assert.equal(await confirm('Change 1 file?', input, screen), expected, answer)
      screen.end()
      assert.equal((await text(screen)).includes('Change 1 file? (y/N) '), isTTY)
    }
  })

  test('progress is shown on a terminal after a moment, and nowhere else', async () => {
    const first = `|Files ${'█'.repeat(6)}${'·'.repeat(18)} 1 of 4`
    const second = `|Files ${'█'.repeat(12)}${'·'.repeat(12)} 2 of 4|`
    for (const [isTTY, times, expected] of [
      [true, [0, 100, 300, 350, 400], first + second],
      [true, [0, 100], ''],
      [false, [0, 100, 300, 400], ''],
    ]) {
      const output = Object.assign(new PassThrough(), { isTTY })
      let now = times[0]
      const progress = createProgress(4, 'Files', output, () => now)
      let done = 0
      for (now of times.slice(1)) {
        if (now >= 300 && now % 100 === 0) done++
        progress.show(done)
      }
      progress.end()
      output.end()
      assert.equal((await text(output)).replaceAll('\r\x1b[K', '|'), expected)
    }
  })

  test('a wrong option or path ends the command with its name', () => {
    for (const [argument, message] of [
      ['--fly', /'--fly'/],
      ['missing.js', /missing\.js/],
    ]) {
      const { status, stderr } = lido('.', ['migrate', argument])
      assert.equal(status, 2)
      assert.match(stderr, message)
      assert.match(stderr, /npx lido migrate --help/)
    }
  })

  test('a file that is no UTF-8 text keeps its bytes, and other files change', () => {
    const text = "const Piscina = require('piscina')\nnew Piscina({ maxThreads: 1 }) // "
    const latin = write('migrate/bytes/latin.cjs', Buffer.concat([Buffer.from(text), Buffer.of(0xe9, 0x0a)]))
    write('migrate/bytes/main.cjs', text)
    const bytes = readFileSync(latin)
    const { stdout } = lido('migrate/bytes', ['migrate', '--write'])
    assert.match(stdout, /^ {2}latin\.cjs:1: The file is no UTF-8 text\.$/m)
    assert.match(stdout, /^In the files that stay, import 'lido\/piscina' in place of 'piscina'\./m)
    assert.match(stdout, /^Changed 1 file\.$/m)
    assert.deepEqual(readFileSync(latin), bytes)
  })

  test('both packages have the same version', () => {
    assert.equal(
      JSON.parse(readFileSync(join(root, 'packages/migrate/package.json'), 'utf8')).version,
      version,
    )
  })
})

describe('programs that migrate() changes partially', () => {
  const piscina = "import Piscina from 'piscina'\n"
  const tinypool = "import { Tinypool } from 'tinypool'\n"
  const workerpool = "import workerpool from 'workerpool'\n"
  for (const [title, text, line, reason] of [
    ['options of another file', `${piscina}const pool = new Piscina(options)\n`, 2, /no object literal/],
    ['options with two uses', `${piscina}const o = {}\nnew Piscina(o)\nlog(o)\n`, 3, /no object literal/],
    ['spread options', `${piscina}new Piscina({\n...base,\n})\n`, 3, /not readable/],
    ['an unknown option', `${piscina}new Piscina({\n  magic: 1 })\n`, 3, /'magic'/],
    ['a subclass', `${piscina}class Mine extends Piscina {}\n`, 2, /not understood/],
    ['a load balancer', `${piscina}new Piscina({ loadBalancer: choose })\n`, 2, /loadBalancer/],
    ['a queue of its own', `${piscina}new Piscina({ taskQueue: new Mine() })\n`, 2, /taskQueue/],
    [
      'runTask() with arguments',
      `${piscina}const pool = new Piscina()\npool.runTask(1, [port])\n`,
      3,
      /runTask/,
    ],
    ['a histogram', `${piscina}const pool = new Piscina()\nlog(pool.histogram)\n`, 3, /stats\(\)/],
    [
      'a destructured pool',
      `${piscina}const pool = new Piscina()\nconst { run } = pool\n`,
      3,
      /used elsewhere/,
    ],
    ['a computed member', `${piscina}const pool = new Piscina()\npool[name]()\n`, 3, /computed/],
    [
      'a second meaning of the name',
      `${piscina}const pool = new Piscina()\nuse(pool => pool.run())\n`,
      2,
      /used elsewhere/,
    ],
    ['another Pool', `${piscina}import { Pool } from 'pg'\nnew Piscina()\n`, 2, /another 'Pool'/],
    ['a dynamic import', "const { default: P } = await import('piscina')\n", 1, /no plain import/],
    ['a re-export', "export { Piscina } from 'piscina'\n", 1, /no plain import/],
    ['a share of the cores', `${tinypool}new Tinypool({ maxThreads: 0.5 })\n`, 2, /share of the cores/],
    ['a runtime in a variable', `${tinypool}new Tinypool({ runtime })\n`, 2, /'runtime'/],
    ['a channel', `${tinypool}const pool = new Tinypool()\npool.run(1, { channel })\n`, 3, /channel/],
    ['the state of a worker', `${tinypool}log(process.__tinypool_state__)\n`, 2, /__tinypool_state__/],
    [
      'an inline function',
      `${workerpool}const pool = workerpool.pool(file)\npool.exec(() => 1, [])\n`,
      3,
      /name in quotes/,
    ],
    ['a pool without a file', `${workerpool}const pool = workerpool.pool()\n`, 2, /without a file/],
    ['a relative path', `${workerpool}const pool = workerpool.pool('./w.js')\n`, 2, /relative path/],
    [
      'arguments in a variable',
      `${workerpool}const pool = workerpool.pool(file)\npool.exec('a', list)\n`,
      3,
      /no list/,
    ],
    [
      'events of a call',
      `${workerpool}const pool = workerpool.pool(file)\npool.exec('a', [], { on })\n`,
      3,
      /onProgress/,
    ],
    [
      'a cancelled call',
      `${workerpool}const pool = workerpool.pool(file)\nconst call = pool.exec('a')\ncall.cancel()\n`,
      4,
      /cancel/,
    ],
    [
      'a pool that is exported',
      `${workerpool}export const pool = workerpool.pool(file)\n`,
      2,
      /used elsewhere/,
    ],
    ['statistics', `${workerpool}const pool = workerpool.pool(file)\nlog(pool.stats())\n`, 3, /stats/],
    [
      'an abort listener',
      `${workerpool}function a() { this.worker.addAbortListener(b) }\nworkerpool.worker({ a })\n`,
      2,
      /'this' is another object/,
    ],
    ['events of a worker', `${workerpool}workerpool.workerEmit(1)\n`, 2, /workerEmit/],
    ['two of the libraries', `${piscina}${tinypool}`, 1, /several/],
    [
      'the message of a cancelled task',
      `${tinypool}const pool = new Tinypool()\nif (error.name === 'CancelError') pool.cancelPendingTasks()\n`,
      3,
      /error\.code/,
    ],
    [
      'close() with other options',
      `${piscina}const pool = new Piscina()\nawait pool.close({ force: true, wait: 1 })\n`,
      3,
      /work differently/,
    ],
  ]) {
    test(`a program with ${title} keeps its code, and says why`, () =>
      checkPartial(text, 'main.mjs', line, reason))
  }

  test('a text that names none of these libraries gives null', () => {
    for (const text of ["import { Pool } from 'lido'\n", "import { parse } from 'lido/body'\n"])
      assert.equal(migrate(text, 'main.mjs'), null)
  })

  test('a program that is not understood stays as it is', () => {
    const { code, refusals } = migrate(`${piscina}const = 1\n`, 'main.mjs')
    assert.equal(code, null)
    assert.match(refusals.find(({ line }) => line === 2).text, /Unexpected token/)
  })

  test('comments of a partial change stand above the statement, the option or the method', () => {
    const text = `#!/usr/bin/env node
// The pools.
${piscina}export class Images {
  // Small.
  pool = new Piscina({
    filename,
    loadBalancer: choose,
  })

  get() { return this
    .pool }
}
`
    const { code } = migrate(text, 'main.mjs')
    const comments = [...code.matchAll(/^( *)\/\/ TODO\(lido\): (.{12}).*\n(.*)$/gm)]
    assert.deepEqual(
      comments.map(([, indent, start, next]) => [indent.length, start, next.trim()]),
      [
        [4, "'loadBalance", 'loadBalancer: choose,'],
        [2, 'The pool is ', 'get() { return this'],
      ],
    )
  })

  test('a second run removes the comments of decided places, and writes no comment twice', () => {
    const before = `${piscina}const pool = new Piscina({\n  loadBalancer,\n})\nuse(pool)\n`
    const { code: first } = migrate(before, 'main.mjs')
    assert.equal(first.match(/TODO\(lido\)/g).length, 2)
    assert.equal(migrate(first, 'main.mjs').code, first)
    const { code: second } = migrate(first.replace('use(pool)\n', ''), 'main.mjs')
    assert.equal(second.match(/TODO\(lido\)/g).length, 1)
    const decided = first.replace('use(pool)\n', '').replace('  loadBalancer,\n', '')
    const { code, isPartial } = migrate(decided, 'main.mjs')
    assert.equal(code, "import { Pool } from 'lido'\nconst pool = new Pool({\n})\n")
    assert.equal(isPartial, false)
  })

  test('strings, templates, keys and comments that name a library are listed', () => {
    const text =
      "log('piscina', `a tinypool`)\n// as in workerpool\nmock({ piscina: 1 })\nlog('lido/piscina', x.piscina)\n"
    const { library, code, mentions } = migrate(text, 'main.mjs')
    assert.equal(library, '')
    assert.equal(code, text)
    assert.deepEqual(
      mentions.map(({ line }) => line),
      [1, 1, 2, 3],
    )
    const changed = migrate(`${piscina}new Piscina({ filename }) // by piscina\n`, 'main.mjs')
    assert.deepEqual(changed.mentions, [{ line: 2, text: 'by piscina' }])
  })

  const create = 'const pool = new Piscina()\n'
  const createNamed = `${workerpool}const pool = workerpool.pool(file)\n`
  for (const [title, path, text, line, reason] of [
    [
      'a lazy pool in an expression',
      'main.mjs',
      `${workerpool}let pool\nconst get = () => (pool ??= workerpool.pool(file))\nget().exec('a')\n`,
      3,
      /used elsewhere/,
    ],
    [
      'a field that is destructured',
      'main.mjs',
      `${piscina}class A {\n  pool = new Piscina()\n  a() { const { pool } = this; pool.run() }\n}\n`,
      4,
      /may be another thing/,
    ],
    [
      'a field of another object',
      'main.mjs',
      `${piscina}class A {\n  #pool = new Piscina()\n  a() { const self = this\n return self.#pool.run() }\n}\n`,
      5,
      /may be another thing/,
    ],
    [
      'a static field',
      'main.mjs',
      `${piscina}class A { static pool = new Piscina() }\n`,
      2,
      /used elsewhere/,
    ],
    [
      'two classes that have the same field',
      'main.mjs',
      `${workerpool}class A { pool = workerpool.pool(file) }\nclass Db {\n  pool = new Client()\n  a() { return this.pool.exec('select', [1]) }\n}\n`,
      5,
      /may be another thing/,
    ],
    [
      'imports inside functions',
      'main.cjs',
      "function a() {\n  const Piscina = require('piscina')\n  new Piscina()\n}\n",
      2,
      /not at the top/,
    ],
    [
      'two imports',
      'main.ts',
      "import type P from 'piscina'\nimport { Piscina } from 'piscina'\nnew Piscina()\n",
      2,
      /imports the library twice/,
    ],
    [
      'a parameter that has the name of the class',
      'main.mjs',
      `${piscina}function create({ Piscina }) {\n  return new Piscina()\n}\n`,
      2,
      /second meaning/,
    ],
    [
      'a worker that has other exports',
      'worker.mjs',
      `${workerpool}export function add() {}\nworkerpool.worker({ add })\n`,
      2,
      /other exports/,
    ],
    [
      'a worker() in a condition',
      'worker.mjs',
      `${workerpool}function add() {}\nif (!isMainThread) {\n  workerpool.worker({ add })\n}\n`,
      4,
      /at the top/,
    ],
    [
      'a worker of CommonJS that has other exports',
      'worker.cjs',
      "const { worker } = require('workerpool')\nfunction add() {}\nworker({ add })\nmodule.exports = { helper }\n",
      4,
      /other exports/,
    ],
    [
      'a method with the name of a global',
      'worker.mjs',
      `${workerpool}workerpool.worker({\n  async fetch(url) { return await fetch(url) },\n})\n`,
      3,
      /cannot become an export/,
    ],
    [
      'a method with the name of a hook',
      'worker.cjs',
      "const { worker } = require('workerpool')\nfunction setup() {}\nworker({ setup })\n",
      3,
      /cannot become an export/,
    ],
    [
      'always() behind a call',
      'main.mjs',
      `${createNamed}pool.exec('a').then(b).catch(c).always(d)\n`,
      3,
      /always/,
    ],
    ['a call that nobody awaits', 'main.mjs', `${createNamed}pool.exec('a')\n`, 3, /must be awaited/],
    [
      'a proxy whose calls have a timeout',
      'main.mjs',
      `${createNamed}const proxy = await pool.proxy()\nawait proxy.add(1).timeout(5)\n`,
      4,
      /must be awaited/,
    ],
    [
      'calls in a timeout',
      'main.mjs',
      `${createNamed}await pool.exec('a').timeout(await pool.exec('b'))\n`,
      3,
      /timeout/,
    ],
    ['a hole in the arguments', 'main.mjs', `${createNamed}await pool.exec('a', [, 1])\n`, 3, /no list/],
    [
      'a relative file',
      'main.mjs',
      `${piscina}const f = './w.mjs'\nnew Piscina({ filename: f })\n`,
      3,
      /relative path/,
    ],
    [
      'a pool in an object',
      'main.mjs',
      `${piscina}const pools = { cpu: new Piscina() }\n`,
      2,
      /used elsewhere/,
    ],
    [
      'a pool in a condition',
      'main.mjs',
      `${piscina}const pool = on ? new Piscina() : null\n`,
      2,
      /used elsewhere/,
    ],
    ['a cast pool', 'main.ts', `${piscina}${create}log((pool as any).options)\n`, 3, /used elsewhere/],
    ['a message', 'main.mjs', `${createNamed}log(/Unknown method/.test(x))\n`, 3, /error\.code/],
    ['eval()', 'main.mjs', `${piscina}${create}eval('pool.run()')\n`, 3, /eval/],
    [
      'a getter in the options',
      'main.mjs',
      `${piscina}new Piscina({ get maxThreads() {} })\n`,
      2,
      /not readable/,
    ],
    [
      'a member that changes',
      'main.mjs',
      `${piscina}${create};[pool.maxThreads] = [1]\n`,
      3,
      /cannot be changed/,
    ],
    ['a passed pool', 'main.mjs', `${piscina}${create}use(pool)\n`, 3, /used elsewhere/],
    ['an exported pool', 'main.mjs', `${piscina}${create}export { pool }\n`, 3, /used elsewhere/],
    [
      'exported options',
      'main.mjs',
      `${piscina}export const o = { maxThreads: 3 }\nnew Piscina(o)\n`,
      3,
      /no object literal/,
    ],
    ['a method without a call', 'main.mjs', `${piscina}${create}list.map(pool.run)\n`, 3, /not called/],
    [
      'a promise with another type',
      'main.ts',
      `${piscina}${create}const stop = (): Promise<void> => pool.close()\n`,
      3,
      /type of this promise/,
    ],
    [
      'a signal of EventEmitter',
      'main.mjs',
      `${piscina}${create}const signal = new EventEmitter()\npool.run(1, { signal })\n`,
      4,
      /AbortSignal/,
    ],
    [
      'two names for move()',
      'main.mjs',
      "import { move as a, move as b } from 'piscina'\nuse(a, b)\n",
      1,
      /two names/,
    ],
    [
      'a mock',
      'main.test.mjs',
      "import { mock } from 'node:test'\nmock.module('piscina')\n",
      2,
      /no plain import/,
    ],
    ['a require() of a template', 'main.cjs', 'const P = require(`piscina`)\n', 1, /no plain import/],
    [
      'the state of tinypool, but no import',
      'worker.mjs',
      'log(process.__tinypool_state__)\n',
      1,
      /__tinypool_state__/,
    ],
  ]) {
    test(`a program with ${title} keeps its code, and says why`, () => checkPartial(text, path, line, reason))
  }

  test('a returned promise of exec() gets a note', () => {
    const { notes } = migrate(`${createNamed}export const add = a => pool.exec('add', [a])\n`, 'main.mjs')
    assert.match(notes.find(({ line }) => line === 3).text, /has no cancel\(\), timeout\(\) or always\(\)/)
  })

  test('a file changes partially if its changed text would have an error', () => {
    checkPartial(
      `${workerpool}workerpool.worker({ delete(id) {} })\n`,
      'worker.mjs',
      1,
      /The changed text would have an error/,
    )
  })

  test('a pool of workerpool stays if the file of its worker is not given', () => {
    const main = `${workerpool}const pool = workerpool.pool(join(folder, 'w.mjs'))\n`
    const worker = { path: 'w.mjs', text: `${workerpool}function a() {}\nworkerpool.worker({ a })\n` }
    const [alone] = migrateAll([{ path: 'main.mjs', text: main }])
    assert.equal(alone.code, null)
    assert.match(alone.refusals[0].text, /'w' is not among the files/)
    for (const { code } of migrateAll([{ path: 'main.mjs', text: main }, worker])) assert.notEqual(code, null)
  })

  test('a pool changes partially if its worker exports a function that lido calls by itself', () => {
    const main = { path: 'main.mjs', text: `${piscina}new Piscina({ filename: join(folder, 'w.mjs') })\n` }
    const [result] = migrateAll([main, { path: 'src/w.mjs', text: 'export const setup = 1\n' }])
    assert.equal(undone(result.code), main.text)
    assert.match(result.code, /TODO.*'setup' and 'teardown' by itself\. Rename them in src\/w\.mjs/)
    const [other] = migrateAll([main, { path: 'src/x.mjs', text: 'export const setup = 1\n' }])
    assert.equal(other.isPartial, false)
  })

  test('a pool in a public field changes partially if another file uses a field of this name', () => {
    const source = `${piscina}export class A { pool = new Piscina() }\n`
    const other = { path: 'b.mjs', text: 'a.pool.runTask(1)\n' }
    assert.equal(migrateAll([{ path: 'a.mjs', text: source }])[0].isPartial, false)
    const [result] = migrateAll([{ path: 'a.mjs', text: source }, other])
    assert.equal(undone(result.code), source)
    assert.match(result.code, /TODO.*b\.mjs also has a '\.pool'/)
    for (const [text, changes] of [
      ['class B { a() { this.pool.run(1) } }\n', true],
      ['class B extends A { a() { this.pool.runTask(1) } }\n', false],
      ['const { pool } = new A()\n', false],
    ]) {
      const [{ isPartial }] = migrateAll([
        { path: 'a.mjs', text: source },
        { path: 'b.mjs', text },
      ])
      assert.equal(!isPartial, changes, text)
    }
  })

  test('a file that cannot be written stays, and holds the files of its workers', () => {
    const results = migrateAll([
      {
        path: 'w.mjs',
        text: "import { move } from 'piscina'\nexport default move\n",
        problem: 'Not writable.',
      },
      { path: 'main.mjs', text: `${piscina}new Piscina({ filename })\n` },
    ])
    assert.deepEqual(
      results.map(({ code, refusals }) => [code, refusals[0].text.slice(0, 9)]),
      [
        [null, 'Not writa'],
        [null, 'The file '],
      ],
    )
  })

  test('a worker of workerpool imports lido/workerpool while the file of its pool does', () => {
    const files = [
      { path: 'main.mjs', text: `${workerpool}const pool = workerpool.pool('./w.js')\n` },
      { path: 'w.mjs', text: `${workerpool}function a() {}\nworkerpool.worker({ a })\n` },
    ]
    const results = migrateAll(files)
    assert.deepEqual(
      results.map(({ code }) => undone(code)),
      files.map(({ text }) => text),
    )
    assert.match(results[1].code, /TODO.*waits for main\.mjs/)
  })

  test('a file of workerpool whose pools are not readable stays, and holds the other files', () => {
    const results = migrateAll([
      { path: 'main.mjs', text: "const { default: w } = await import('workerpool')\nw.pool(file)\n" },
      { path: 'w.mjs', text: `${workerpool}function a() {}\nworkerpool.worker({ a })\n` },
    ])
    assert.deepEqual(
      results.map(({ code }) => code),
      [null, null],
    )
    assert.match(results[1].refusals[0].text, /waits for main\.mjs/)
  })

  test('pools of piscina in separate files change independently', () => {
    const results = migrateAll([
      { path: 'one.mjs', text: `${piscina}new Piscina(options)\n` },
      { path: 'two.mjs', text: `${piscina}new Piscina({ maxThreads: 1 })\n` },
    ])
    assert.equal(results[0].isPartial, true)
    assert.equal(results[1].code, "import { Pool } from 'lido'\nnew Pool({ maxWorkers: 1 })\n")
  })
})

describe('text that migrate() writes', () => {
  for (const [title, before, after] of [
    [
      'quotes and semicolons stay',
      'import { Piscina as P } from "piscina";\nnew P({ minThreads: 1 });\n',
      'import { Pool } from "lido";\nnew Pool({ minWorkers: 1 });\n',
    ],
    [
      'a shorthand option keeps its variable',
      "const Piscina = require('piscina')\nconst pool = new Piscina({ filename, maxThreads })\n",
      "const { Pool } = require('lido')\nconst pool = new Pool({ filename, maxWorkers: maxThreads })\n",
    ],
    [
      'removed options take their commas',
      "import Piscina from 'piscina'\nnew Piscina({\n  filename,\n  useAtomics: true,\n  atomics: 'sync',\n})\n",
      "import { Pool } from 'lido'\nnew Pool({\n  filename,\n})\n",
    ],
    [
      'only removed options leave an empty object',
      "import Piscina from 'piscina'\nnew Piscina({ useAtomics: true })\n",
      "import { Pool } from 'lido'\nnew Pool({})\n",
    ],
    [
      'a FixedQueue goes with its import',
      "import { FixedQueue, Piscina } from 'piscina'\nnew Piscina({ filename, taskQueue: new FixedQueue() })\n",
      "import { Pool } from 'lido'\nnew Pool({ filename })\n",
    ],
    [
      'names of workers come from lido/worker',
      "import { isWorkerThread, move as hand } from 'piscina'\nexport default x => (isWorkerThread ? hand(x) : x)\n",
      "import { isWorkerThread } from 'lido/worker'\nimport { move as hand } from 'lido'\nexport default x => (isWorkerThread ? hand(x) : x)\n",
    ],
    [
      'options in a variable that has no other use change there',
      "import Piscina from 'piscina'\nconst options = { maxThreads: 2 }\nnew Piscina(options)\n",
      "import { Pool } from 'lido'\nconst options = { maxWorkers: 2 }\nnew Pool(options)\n",
    ],
    [
      'options of workerpool in a variable stay there',
      "import workerpool from 'workerpool'\nconst options = { maxQueueSize: 2 }\nworkerpool.pool(file, options)\n",
      "import { Pool } from 'lido'\nconst options = { maxQueue: 2 }\nnew Pool({ filename: file, ...options })\n",
    ],
    [
      'functions inside worker() become exports',
      "import { worker } from 'workerpool'\n\nworker({\n  add: (a, b) => {\n    return a + b\n  },\n  async *count(n) {\n    yield n\n  },\n})\n",
      'export const add = (a, b) => {\n  return a + b\n}\n\nexport async function* count(n) {\n  yield n\n}\n',
    ],
    [
      'runTask() with one argument becomes run()',
      "import Piscina from 'piscina'\nconst pool = new Piscina()\nawait pool.runTask(1)\n",
      "import { Pool } from 'lido'\nconst pool = new Pool()\nawait pool.run(1)\n",
    ],
    [
      'cancelPendingTasks() becomes cancelQueued(), and destroy() stays',
      "import Tinypool from 'tinypool'\nconst pool = new Tinypool()\npool.cancelPendingTasks()\nawait pool.destroy()\n",
      "import { Pool } from 'lido'\nconst pool = new Pool()\npool.cancelQueued()\nawait pool.destroy()\n",
    ],
    [
      'destroy() of a tinypool that has a teardown becomes close({ force: true })',
      "import Tinypool from 'tinypool'\nconst pool = new Tinypool({ filename, teardown: 'teardown' })\nawait pool.destroy()\n",
      "import { Pool } from 'lido'\nconst pool = new Pool({ filename })\nawait pool.close({ force: true })\n",
    ],
    [
      'close({ force: true }) of piscina stays',
      "import Piscina from 'piscina'\nconst pool = new Piscina()\nawait pool.close({ force: true })\n",
      "import { Pool } from 'lido'\nconst pool = new Pool()\nawait pool.close({ force: true })\n",
    ],
    [
      'lido/piscina becomes lido, too',
      "import Piscina from 'lido/piscina'\nnew Piscina({ maxThreads: 1 })\n",
      "import { Pool } from 'lido'\nnew Pool({ maxWorkers: 1 })\n",
    ],
    [
      'arguments in parentheses stay in them',
      "import workerpool from 'workerpool'\nconst pool = workerpool.pool(file, {\n  // few\n  workerType: 'auto',\n})\nawait pool.exec('add', [(log(1), 5), 2])\n",
      "import { Pool } from 'lido'\nconst pool = new Pool({ filename: file })\nawait pool.api.add((log(1), 5), 2)\n",
    ],
    [
      'the first comment in the options stays',
      "import workerpool from 'workerpool'\nconst pool = workerpool.pool(file, {\n  // few\n  maxWorkers: 4,\n})\n",
      "import { Pool } from 'lido'\nconst pool = new Pool({\n  filename: file,\n  // few\n  maxWorkers: 4,\n})\n",
    ],
    [
      'a byte order mark and Windows line endings stay unchanged',
      "\uFEFFimport Piscina from 'piscina'\r\nnew Piscina({ workerData: Piscina.workerData })\r\n",
      "\uFEFFimport { Pool } from 'lido'\r\nimport { workerData } from 'lido/worker'\r\nnew Pool({ workerData: workerData })\r\n",
    ],
    [
      'a pool in a field of one class changes there',
      "import Piscina from 'piscina'\nclass A {\n  pool = null\n  a() {\n    this.pool ??= new Piscina()\n    return () => this.pool && this.pool.maxThreads\n  }\n}\n",
      "import { Pool } from 'lido'\nclass A {\n  pool = null\n  a() {\n    this.pool ??= new Pool()\n    return () => this.pool && this.pool.maxWorkers\n  }\n}\n",
    ],
    [
      'a property of another object keeps its name',
      "import Piscina from 'piscina'\nconst pool = new Piscina()\nother.pool.runTask(1)\nlog({ Piscina: 1 }, x.Piscina)\n",
      "import { Pool } from 'lido'\nconst pool = new Pool()\nother.pool.runTask(1)\nlog({ Piscina: 1 }, x.Piscina)\n",
    ],
  ]) {
    test(title, () => {
      const path = before.includes('require(') ? 'main.cjs' : 'main.mjs'
      const { code, isPartial, refusals } = migrate(before, path)
      assert.equal(code, after, JSON.stringify(refusals))
      assert.equal(isPartial, false)
    })
  }
})

/** A partial change writes the import and comments, and nothing else. The comment stands at the line, or above its statement. */
function checkPartial(text, path, line, reason) {
  const { code, isPartial, refusals } = migrate(text, path)
  assert.equal(isPartial, true, JSON.stringify(refusals))
  assert.equal(undone(code), text)
  const found = refusals.filter(refusal => refusal.line === line).map(({ text }) => text)
  assert.match(found.join('\n') || JSON.stringify(refusals), reason)
  for (const { text } of refusals) assert.ok(code.includes(`// TODO(lido): ${text.slice(0, 150)}`), code)
}

/** The text before a partial change. */
function undone(code) {
  return code
    .replaceAll(/^[ \t]*\/\/ TODO\(lido\): .*\r?\n/gm, '')
    .replaceAll(/(['"`])lido\/(piscina|tinypool|workerpool)\1/g, '$1$2$1')
}

function addPackagesOfTypes() {
  write('node_modules/@types/README.md', '')
  addPackages('@types/node')
}

test('two imports of a library get no comment about a second meaning of a name', () => {
  const text = "import Piscina from 'piscina'\nimport type { Options } from 'piscina'\nnew Piscina()\n"
  const { refusals } = migrate(text, 'main.ts')
  assert.deepEqual(
    refusals.map(refusal => refusal.text),
    ['The file imports the library twice.', 'An import of a type.'],
  )
})
