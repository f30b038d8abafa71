// `npx lido migrate`: programs of the peers run before and after it, and print the same. Unsafe programs stay as they are.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { confirm } from '../../packages/migrate/src/confirm.js'
import { migrate, migrateAll } from '../../packages/migrate/src/migrate.js'
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
  const late = pool.exec('wait').timeout(100)
  console.log(await late.catch(error => 'too late'))
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

  test('a TypeScript program of piscina compiles after the change', () => {
    const folder = 'migrate/typescript'
    addPackagesOfTypes()
    const service = `import { Piscina } from 'piscina'

export class Service {
  private pool?: Piscina<number, string>

  constructor(private readonly other: Piscina) {}

  start(maxThreads: number): void {
    this.pool ??= new Piscina<number, string>({ filename: __filename, maxThreads, atomics: 'disabled' })
  }

  async run(value: number): Promise<string> {
    await this.other.run(value)
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
    assert.match(changed, /constructor\(private readonly other: Pool\)/)
    assert.match(changed, /new Pool\(\{ filename: __filename, maxWorkers: maxThreads \}\)/)
    const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
    execFileSync(process.execPath, [compiler, '-p', join(project, folder)], { stdio: 'inherit' })
  })

  test('without lido-migrate, npm runs the package of the same major version', () => {
    const fake = write('migrate/fake/npm-cli.js', 'console.log(JSON.stringify(process.argv.slice(2)))')
    // A copy of the command, far from an installed lido-migrate.
    write(
      '../alone/node_modules/lido/package.json',
      JSON.stringify({ name: 'lido', version, type: 'module' }),
    )
    const alone = write('../alone/node_modules/lido/bin/lido.js', readFileSync(command, 'utf8'))
    const { stdout } = spawnSync(process.execPath, [alone, 'migrate', 'src', '--write'], {
      cwd: join(project, '../alone'),
      env: { ...process.env, npm_execpath: fake },
      encoding: 'utf8',
    })
    const name = `lido-migrate@${version.split('.')[0]}`
    assert.deepEqual(JSON.parse(stdout), ['exec', '--yes', name, '--', 'src', '--write'])
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
      assert.equal(String(screen.read()).includes('Change 1 file? (y/N) '), isTTY)
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

  test('both packages have the same version', () => {
    assert.equal(
      JSON.parse(readFileSync(join(root, 'packages/migrate/package.json'), 'utf8')).version,
      version,
    )
  })
})

describe('programs that migrate() leaves as they are', () => {
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
    ['a destructured pool', `${piscina}const pool = new Piscina()\nconst { run } = pool\n`, 3, /taken out/],
    ['a computed member', `${piscina}const pool = new Piscina()\npool[name]()\n`, 3, /computed/],
    [
      'a second meaning of the name',
      `${piscina}const pool = new Piscina()\nuse(pool => pool.run())\n`,
      3,
      /'pool'/,
    ],
    ['another Pool', `${piscina}import { Pool } from 'pg'\nnew Piscina()\n`, 2, /another 'Pool'/],
    ['a dynamic import', "const { default: P } = await import('piscina')\n", 1, /no plain import/],
    ['a re-export', "export { Piscina } from 'piscina'\n", 1, /no plain import/],
    ['a syntax error', `${piscina}const = 1\n`, 2, /Unexpected token/],
    ['a share of the cores', `${tinypool}new Tinypool({ maxThreads: 0.5 })\n`, 2, /share of the cores/],
    ['a runtime in a variable', `${tinypool}new Tinypool({ runtime })\n`, 2, /'runtime'/],
    [
      'cancelPendingTasks()',
      `${tinypool}const pool = new Tinypool()\npool.cancelPendingTasks()\n`,
      3,
      /cancelPendingTasks/,
    ],
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
      /this\.worker/,
    ],
    ['events of a worker', `${workerpool}workerpool.workerEmit(1)\n`, 2, /workerEmit/],
    ['two of the libraries', `${piscina}${workerpool}`, 1, /several/],
  ]) {
    test(`a program with ${title} stays, with the line of the reason`, () => {
      const { code, refusals } = migrate(text, 'main.mjs')
      assert.equal(code, null)
      const found = refusals.find(refusal => refusal.line === line)
      assert.match(found?.text ?? JSON.stringify(refusals), reason)
    })
  }

  test('a text that loads none of these libraries gives null', () => {
    for (const text of ["import { Pool } from 'lido'\n", "log('piscina', { workerpool: 'workerpool' })\n"])
      assert.equal(migrate(text, 'main.mjs'), null)
  })

  test('a worker of workerpool stays while the file of its pool stays', () => {
    const results = migrateAll([
      { path: 'main.mjs', text: `${workerpool}const pool = workerpool.pool('./w.js')\n` },
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
    assert.equal(results[0].code, null)
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
      'a property of another object keeps its name',
      "import Piscina from 'piscina'\nconst pool = new Piscina()\nother.pool.runTask(1)\nlog({ Piscina: 1 }, x.Piscina)\n",
      "import { Pool } from 'lido'\nconst pool = new Pool()\nother.pool.runTask(1)\nlog({ Piscina: 1 }, x.Piscina)\n",
    ],
  ]) {
    test(title, () => {
      assert.equal(migrate(before, 'main.mjs').code, after)
    })
  }
})

function addPackagesOfTypes() {
  write('node_modules/@types/README.md', '')
  addPackages('@types/node')
}
