// The entry points of the installed package, from ES modules and from CommonJS, and with two copies of it in one process.
import assert from 'node:assert/strict'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { answer, installedPackage, node, printed, project, root, run, write } from './installed.js'

const doors = {
  lido: [
    ...['FifoQueue', 'InvalidOptionError', 'InvalidTaskError', 'NotCloneableError', 'Pool'],
    ...['PoolClosedError', 'PoolError', 'PriorityQueue', 'QueueFullError', 'RestartLimitError'],
    ...['TaskCancelledError', 'TaskQuarantinedError', 'TaskTimeoutError', 'TeardownError', 'WorkerError'],
    ...['WorkerExitError', 'WorkerMemoryError', 'WorkerStartError'],
    ...['isPoolError', 'kitParts', 'move', 'share', 'transferableSymbol', 'valueSymbol'],
  ],
  'lido/body': ['fastifyJson', 'fastifyNdjson', 'json', 'jsonReader', 'ndjson', 'ndjsonReader', 'runFor'],
  'lido/express': ['json', 'ndjson', 'runFor'],
  'lido/fastify': ['default', 'fastifyPiscina', 'fastifyPool', 'healthCheck'],
  'lido/nestjs': [
    ...['ClientSignal', 'InjectPool', 'PoolExceptionFilter', 'PoolHealthIndicator', 'PoolModule'],
    'getPoolToken',
  ],
  'lido/prometheus': ['collectPools'],
  'lido/tinypool': [
    ...['Tinypool', 'default', 'isMovable', 'isTaskQueue', 'isTransferable', 'kFieldCount', 'kQueueOptions'],
    ...['kRequestCountField', 'kResponseCountField', 'kTransferable', 'kValue', 'markMovable'],
    ...['withNullPrototype', 'workerId'],
  ],
  'lido/workerpool': [
    ...['Promise', 'TerminateError', 'Transfer', 'cpus', 'default', 'isMainThread', 'platform', 'pool'],
    ...['worker', 'workerEmit'],
  ],
  'lido/worker': [
    ...['carry', 'context', 'isWorkerThread', 'move', 'onTeardown', 'transferableSymbol', 'valueSymbol'],
    'workerData',
  ],
}
/** With this flag, `require()` cannot load ES modules. Every supported version of Node knows this name of the flag. */
const withoutRequireOfModules = '--no-experimental-require-module'

write(
  'handler.mjs',
  `export default value => value * 2\nexport const fail = () => { throw new RangeError('no') }\n`,
)
write('handler.cjs', `module.exports = value => value * 3\n`)

/** The packages that a program with these frameworks has installed itself. */
for (const name of ['@nestjs', 'fastify', 'prom-client', 'reflect-metadata', 'rxjs']) {
  symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name), 'junction')
}

describe('entry points for frameworks', () => {
  const framed = ['lido/fastify', 'lido/nestjs', 'lido/prometheus']

  for (const [way, file, load] of [
    ['import()', 'framework-doors.mjs', 'await import'],
    ['require()', 'framework-doors.cjs', 'require'],
  ]) {
    test(`${way} finds the exports of lido/fastify, lido/nestjs and lido/prometheus`, async () => {
      const names = framed.map(door => `Object.keys(${load}('${door}')).filter(isName).sort()`)
      const program = `const isName = name => !name.startsWith('__')\nconsole.log(JSON.stringify([${names}]))`
      assert.deepEqual(
        answer(await run(file, program)),
        framed.map(door => doors[door]),
      )
    })
  }

  test('require() returns the Fastify plugin itself without require() of ES modules', async () => {
    const program = `
      const app = require('fastify')()
      app.register(require('lido/fastify'), { filename: require.resolve('./handler.cjs'), maxWorkers: 1 })
      app.ready().then(async () => {
        console.log(await app.pool.run(5))
        await app.close()
      })`
    assert.equal(printed(await run('fastify.cjs', program, withoutRequireOfModules)), '15')
    const decorated = program
      .replace('maxWorkers: 1', 'maxThreads: 1, piscina: true')
      .replace('app.pool.run', 'app.runTask')
    assert.equal(printed(await run('decorated.cjs', decorated, withoutRequireOfModules)), '15')
  })
})

describe('entry points for programs of other pools', () => {
  const names = ['lido/tinypool', 'lido/workerpool']

  for (const [way, file, load, ...flags] of [
    ['import()', 'peer-doors.mjs', 'await import'],
    ['require()', 'peer-doors.cjs', 'require'],
    ['require() without ES modules', 'peer-doors-of-old.cjs', 'require', withoutRequireOfModules],
  ]) {
    test(`${way} finds the exports of lido/tinypool and lido/workerpool`, async () => {
      const found = names.map(door => `Object.keys(${load}('${door}')).filter(isName).sort()`)
      const program = `const isName = name => !name.startsWith('__')\nconsole.log(JSON.stringify([${found}]))`
      assert.deepEqual(
        answer(await run(file, program, ...flags)),
        names.map(door => doors[door]),
      )
    })
  }

  test('their workers run tasks, with and without require() of ES modules', async () => {
    write('methods.cjs', `require('lido/workerpool').worker({ add: (a, b) => a + b })`)
    const program = `
      const { Tinypool } = require('lido/tinypool')
      const workerpool = require('lido/workerpool')
      const tinypool = new Tinypool({ filename: require.resolve('./handler.mjs'), maxThreads: 1, minThreads: 1 })
      const pool = workerpool.pool(require.resolve('./methods.cjs'))
      Promise.all([tinypool.run(21), pool.exec('add', [1, 2])]).then(async results => {
        await Promise.all([tinypool.destroy(), pool.terminate()])
        console.log(JSON.stringify(results))
      })`
    for (const flags of [[], [withoutRequireOfModules]]) {
      assert.deepEqual(answer(await run('peers.cjs', program, ...flags)), [42, 3])
    }
  })
})

describe('main entry points', () => {
  test('import() finds the exports of lido, lido/worker and lido/piscina', async () => {
    const found = answer(
      await run(
        'import-doors.mjs',
        `const names = async door => Object.keys(await import(door)).sort()
         console.log(JSON.stringify([await names('lido'), await names('lido/worker'), await names('lido/piscina')]))`,
      ),
    )
    assert.deepEqual(found.slice(0, 2), [doors.lido, doors['lido/worker']])
    for (const name of ['default', 'Piscina', 'move', 'version']) assert.ok(found[2].includes(name), name)
  })

  test('every export of lido/kit has a value', async () => {
    const program = `console.log(JSON.stringify(Object.entries(require('lido/kit')).filter(([, value]) => value === undefined)))`
    assert.deepEqual(answer(await run('kit-door.cjs', program)), [])
  })

  for (const flags of [[], [withoutRequireOfModules]]) {
    test(`require() finds the exports of the main entry points${flags.length > 0 ? ' without require() of ES modules' : ''}`, async () => {
      const found = answer(
        await run(
          'require-doors.cjs',
          `const names = door => Object.keys(require(door)).sort()
           const Piscina = require('lido/piscina')
           const { name, version } = require('lido/package.json')
           const kind = /dist.(esm|cjs)/.exec(require.resolve('lido'))[1]
           console.log(JSON.stringify(
             [names('lido'), names('lido/worker'), typeof Piscina, Piscina.name, name, kind, version]))`,
          ...flags,
        ),
      )
      const expected = [doors.lido, doors['lido/worker'], 'function', 'Piscina', 'lido', 'cjs']
      assert.deepEqual(found.slice(0, 6), expected)
      assert.match(found[6], /^\d+\.\d+\.\d+/)
    })
  }

  test('import and require() return the same classes and functions', async () => {
    const same = answer(
      await run(
        'same-class.mjs',
        `import { createRequire } from 'node:module'
         import { Pool, isPoolError } from 'lido'
         import { isWorkerThread, move } from 'lido/worker'
         import Piscina, { Piscina as Named } from 'lido/piscina'
         import Tinypool, { Tinypool as NamedTinypool } from 'lido/tinypool'
         import workerpool, { pool } from 'lido/workerpool'
         const require = createRequire(import.meta.url)
         console.log(JSON.stringify([
           require('lido').Pool === Pool,
           require('lido').isPoolError === isPoolError,
           require('lido/worker').move === move && isWorkerThread === false,
           require('lido/piscina') === Piscina && Piscina === Named,
           require('lido/tinypool').Tinypool === Tinypool && Tinypool === NamedTinypool,
           require('lido/workerpool').default === workerpool && workerpool.pool === pool,
         ]))`,
      ),
    )
    assert.deepEqual(same, Array(6).fill(true))
  })

  test('a file that is no entry point cannot be imported', async () => {
    const { exitCode, errors } = await run(
      'inside.mjs',
      `await import('lido/dist/cjs/worker/entry/thread.cjs')`,
    )
    assert.equal(exitCode, 1)
    assert.match(errors, /ERR_PACKAGE_PATH_NOT_EXPORTED/)
  })
})

describe('entry points for bodies', () => {
  const names = ['lido/body', 'lido/express'].map(door => doors[door])

  test('import() finds the exports of lido/body and lido/express', async () => {
    const program = `
      const names = async door => Object.keys(await import(door)).sort()
      console.log(JSON.stringify([await names('lido/body'), await names('lido/express')]))`
    assert.deepEqual(answer(await run('import-bodies.mjs', program)), names)
  })

  for (const flags of [[], [withoutRequireOfModules]]) {
    test(`a CommonJS program parses large bodies${flags.length > 0 ? ' without require() of ES modules' : ''}`, async () => {
      const program = `
        const { fastifyJson, json } = require('lido/body')
        const names = door => Object.keys(require(door)).filter(name => name !== 'module.exports').sort()
        // The parts of Fastify that the plugin uses.
        let parser
        let close
        const fastify = {
          initialConfig: {},
          getDefaultJsonParser: () => () => {},
          addContentTypeParser: (type, options, given) => { parser = given },
          addHook: (name, hook) => { close = hook },
        }
        fastifyJson({ threshold: 1 })(fastify, {}, () => {})
        const raw = { socket: new (require('node:events'))() }
        parser({ raw }, Buffer.from('{"a":[1]}'), async (error, body) => {
          await close()
          let missing
          try { json() } catch (error) { missing = error.message }
          console.log(JSON.stringify([names('lido/body'), names('lido/express'), error, body, missing]))
        })`
      const missing =
        "The package 'body-parser', which reads bodies, is not installed. Run: npm install body-parser"
      const found = answer(await run('bodies.cjs', program, ...flags))
      assert.deepEqual(found, [...names, null, { a: [1] }, missing])
    })
  }
})

describe('tasks of the installed package', () => {
  test('a task runs from an ES module, and the program exits by itself', async () => {
    const program = `
      import { Pool } from 'lido'
      const pool = new Pool({ filename: new URL('./handler.mjs', import.meta.url), maxWorkers: 2 })
      console.log(await pool.run(21))`
    assert.equal(printed(await run('task.mjs', program)), '42')
  })

  const fromCommonJs = `
    const { Pool } = require('lido')
    const pool = new Pool({ filename: require.resolve('./handler.cjs'), maxWorkers: 2 })
    pool.run(7).then(async result => {
      console.log(result)
      await pool.close()
    })`

  test('a task runs from CommonJS', async () => {
    assert.equal(printed(await run('task.cjs', fromCommonJs)), '21')
  })

  test('a task runs from CommonJS without require() of ES modules', async () => {
    assert.equal(printed(await run('task-of-old.cjs', fromCommonJs, withoutRequireOfModules)), '21')
  })

  test('a task runs through require() of lido/piscina', async () => {
    const program = `
      const Piscina = require('lido/piscina')
      const { Piscina: Named, move } = Piscina
      const piscina = new Piscina({ filename: require.resolve('./handler.cjs'), maxThreads: 1 })
      piscina.run(5).then(async result => {
        console.log(JSON.stringify([result, Named === Piscina, typeof move]))
        await piscina.destroy()
      })`
    for (const flags of [[], [withoutRequireOfModules]]) {
      assert.deepEqual(answer(await run('piscina.cjs', program, ...flags)), [15, true, 'function'])
    }
  })

  for (const [kind, flags] of [
    [
      'an ES module',
      ['--input-type=module', '-e', `import { Pool } from 'lido'; START; console.log(await pool.run(4))`],
    ],
    ['CommonJS', ['-e', `const { Pool } = require('lido'); START; pool.run(4).then(console.log)`]],
  ]) {
    test(`a task runs from code on the command line (${kind})`, async () => {
      const start = `const pool = new Pool({ filename: ${JSON.stringify(`${project}/handler.mjs`)}, maxWorkers: 1 })`
      assert.equal(printed(await node(...flags.map(flag => flag.replace('START', start)))), '8')
    })
  }
})

describe('files of dist/cjs', () => {
  const cjs = `${installedPackage}/dist/cjs/index.js`

  test('a program that loads them by path gets the same class', async () => {
    const program = `
      const { Pool } = require(${JSON.stringify(cjs)})
      const pool = new Pool({ filename: require.resolve('./handler.mjs'), maxWorkers: 1 })
      pool.run(2).then(async result => {
        console.log(JSON.stringify([result, pool.constructor === require('lido').Pool]))
        await pool.close()
      })`
    assert.deepEqual(answer(await run('direct.cjs', program)), [4, true])
  })

  /** A program that loads them into a context of its own, as Jest does. The context has these globals as well. */
  const inContext = (globals, program) => `
    const { readFileSync } = require('node:fs')
    const { createRequire } = require('node:module')
    const { dirname } = require('node:path')
    const { pathToFileURL } = require('node:url')
    const vm = require('node:vm')
    // Newer versions of Node abort if code of another context is the first that reads this global.
    DOMException
    const context = vm.createContext(Object.assign(Object.create(globalThis), ${globals}))
    function load(file) {
      const nodes = createRequire(file)
      const module = { exports: {} }
      const code = '(function (exports, require, module, __dirname) {' + readFileSync(file, 'utf8') + '\\n})'
      const own = name => (name.startsWith('.') ? load(nodes.resolve(name)) : nodes(name))
      vm.runInContext(code, context)(module.exports, own, module, dirname(file))
      return module.exports
    }
    const { Pool } = load(${JSON.stringify(cjs)})
    ${program}`

  test('they run an inline pool where code has no import(), as in the contexts of Jest', async () => {
    const program = `
      const pool = new Pool({ filename: require.resolve('./handler.mjs'), maxWorkers: 1, backend: 'inline' })
      pool.run(2).then(result => console.log(result))`
    assert.equal(printed(await run('in-context.cjs', inContext('{}', program))), '4')
  })

  test('they work with another URL class and no structuredClone, as in the jsdom of Jest', async () => {
    const program = `
      async function main() {
        for (const backend of ['thread', 'process', 'inline']) {
          const filename = pathToFileURL(require.resolve('./handler.mjs'))
          const pool = new Pool({ filename, maxWorkers: 1, backend })
          console.log(await pool.run(2), await pool.broadcast(2))
          const buffer = new ArrayBuffer(1)
          await pool.run(buffer, { transferList: [buffer] })
          console.log(buffer.byteLength)
          await pool.close()
        }
      }
      main()`
    const globals = '{ structuredClone: undefined, URL: class URL {} }'
    assert.equal(
      printed(await run('in-jsdom.cjs', inContext(globals, program))),
      Array(3).fill('4 [ 4 ]\n0').join('\n'),
    )
  })

  test('two copies of the package accept objects of each other in one process', async () => {
    cpSync(installedPackage, join(project, 'copy'), { recursive: true })
    write(
      'buffers.cjs',
      `const { move, isWorkerThread } = require('./copy/dist/cjs/worker.js')
       module.exports = buffer => {
         const answer = new ArrayBuffer(buffer.byteLength * 2)
         globalThis.last = answer
         return move(answer)
       }
       module.exports.gone = () => [globalThis.last.byteLength, isWorkerThread]`,
    )
    const program = `
      import * as first from 'lido'
      import * as second from './copy/dist/esm/index.js'
      const seen = []
      for (const [one, other] of [[first, second], [second, first]]) {
        const pool = new one.Pool({ filename: new URL('./buffers.cjs', import.meta.url), maxWorkers: 1 })
        const sent = new ArrayBuffer(8)
        const answer = await pool.run(other.move(sent))
        const [left, isWorkerThread] = await pool.run(undefined, { name: 'gone' })
        const problem = await pool.run(1, { name: 'nowhere' }).catch(error => error)
        seen.push({
          sent: sent.byteLength,
          answer: answer.byteLength,
          left,
          isWorkerThread,
          isPoolError: other.isPoolError(problem),
          isOfOther: problem instanceof other.PoolError,
          code: problem.code,
        })
        await pool.close()
      }
      console.log(JSON.stringify(seen))`
    const expected = {
      sent: 0,
      answer: 16,
      left: 0,
      isWorkerThread: true,
      isPoolError: true,
      isOfOther: false,
      code: 'ERR_LIDO_WORKER_START',
    }
    assert.deepEqual(answer(await run('both.mjs', program)), [expected, expected])
  })
})
