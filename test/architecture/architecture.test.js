// Keeps the promise that rooms import as architecture.json says, and that the checker would notice if they did not.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { describeViolation, findViolations } from './check.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const table = JSON.parse(readFileSync(join(root, 'architecture.json'), 'utf8'))
const sources = readSources()

function readSources() {
  const folder = join(root, 'src')
  return new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
      .map(entry => join(entry.parentPath, entry.name))
      .map(file => [relative(folder, file).split(sep).join('/'), readFileSync(file, 'utf8')]),
  )
}

/** What the checker says of one more file. */
function plant(path, text) {
  const found = findViolations(table, new Map([...sources, [path, text]]))
  return found.filter(({ file }) => file === `src/${path}`)
}

describe('the rooms of src/', () => {
  test('every import is one that the table allows', () => {
    assert.deepEqual(findViolations(table, sources).map(describeViolation), [])
  })

  test('every room and file that the table names exists', () => {
    const named = [
      ...Object.keys(table.rooms),
      ...Object.values(table.rooms).flat(),
      ...table.keepers.flatMap(({ files }) => files),
    ]
    const paths = [...sources.keys()]
    for (const name of new Set(named)) {
      const folder = name.replace(/\/\*$/, '')
      assert.ok(
        paths.some(path => path === folder || path.startsWith(`${folder}/`)),
        `nothing stands at src/${folder}`,
      )
    }
  })

  test('rooms do not import each other in a circle', () => {
    const reach = new Map()
    for (const [room, allowed] of Object.entries(table.rooms)) reach.set(room, new Set(allowed))
    const visit = (room, path) => {
      assert.ok(!path.includes(room), `${[...path, room].join(' → ')}`)
      for (const next of reach.get(room) ?? []) visit(next, [...path, room])
    }
    for (const room of reach.keys()) visit(room, [])
  })
})

describe('the checker', () => {
  const cases = [
    ['a room below that imports one above', 'shared/platform/x.ts', "import '../errors/pool-errors.js'"],
    ['a type import', 'shared/platform/x.ts', "import type { PoolError } from '../errors/pool-errors.js'"],
    ['an inline type import', 'host/task/x.ts', "import { type Pool } from '../pool/pool.js'"],
    ['a type written as import()', 'host/task/x.ts', "let pool: import('../pool/pool.js').Pool"],
    ['a re-export', 'host/queue/x.ts', "export { Dispatcher } from '../dispatch/dispatcher.js'"],
    ['a re-export of everything', 'host/queue/x.ts', "export * from '../dispatch/dispatcher.js'"],
    ['a dynamic import', 'host/queue/x.ts', "await import('../pool/pool.js')"],
    ['require()', 'host/queue/x.ts', "require('../pool/pool.js')"],
    ['the host that imports the worker', 'host/pool/x.ts', "import { serve } from '../../worker/serve.js'"],
    ['the worker that imports the host', 'worker/x.ts', "import { Pool } from '../host/pool/pool.js'"],
    [
      'an adapter behind the front door',
      'adapters/one/x.ts',
      "import { Pool } from '../../host/pool/pool.js'",
    ],
    ['another package', 'host/pool/x.ts', "import fastify from 'fastify'"],
    ['an optional package outside its file', 'host/pool/x.ts', "await import('@napi-rs/nice')"],
    ["one of Node's modules without 'node:'", 'host/pool/x.ts', "import 'fs'"],
    ['an import that leads nowhere', 'host/pool/x.ts', "import './nowhere.js'"],
    ['a computed import', 'host/pool/x.ts', "const name = 'fs'\nawait import(name)", 2],
    ['a file outside all rooms', 'utils/x.ts', ''],
    ['Atomics elsewhere', 'worker/x.ts', 'Atomics.load(words, 0)'],
    ['Atomics by way of globalThis', 'worker/x.ts', 'globalThis.Atomics.load(words, 0)'],
    ['a timer elsewhere', 'host/pool/x.ts', 'setTimeout(done, 1)'],
    ['a timer taken from an object', 'host/pool/x.ts', 'const { setTimeout: later } = globalThis\nlater()'],
    ['timers imported', 'host/pool/x.ts', "import { setTimeout as wait } from 'node:timers/promises'"],
    ['performance imported', 'host/pool/x.ts', "import { performance } from 'node:perf_hooks'"],
    ['util imported', 'host/pool/x.ts', "import { types } from 'node:util'"],
    ['Date elsewhere', 'host/pool/x.ts', 'Date.now()'],
    ['Worker outside the backend', 'host/pool/x.ts', "import { Worker } from 'node:worker_threads'"],
    ['all of worker_threads outside it', 'host/pool/x.ts', "import * as t from 'node:worker_threads'"],
    ['processes outside the backend', 'host/pool/x.ts', "import { fork } from 'node:child_process'"],
    [
      'Worker asked for outside the backend',
      'host/pool/x.ts',
      "const { Worker: Thread } = process.getBuiltinModule('node:worker_threads')",
    ],
    ['all of a module asked for', 'host/pool/x.ts', "spawn(getBuiltinModule('node:child_process'))"],
  ]
  for (const [title, path, text, line = 1] of cases) {
    test(`notices ${title}`, () => {
      const [violation, ...more] = plant(path, text)
      assert.ok(violation, 'nothing was noticed')
      assert.deepEqual(more, [])
      assert.equal(violation.file, `src/${path}`)
      assert.equal(violation.line, line)
      assert.notEqual(violation.rule, '')
    })
  }

  test('notices one adapter that imports another', () => {
    const more = new Map([
      ...sources,
      ['adapters/one/x.ts', ''],
      ['adapters/two/y.ts', "import '../one/x.js'"],
    ])
    const [violation] = findViolations(table, more).filter(({ file }) => file === 'src/adapters/two/y.ts')
    assert.equal(violation.imported, 'adapters/one/x.ts')
  })

  test('names file, line, import and rule', () => {
    const [violation] = plant('host/task/x.ts', "// Why.\nimport { Pool } from '../pool/pool.js'")
    assert.equal(
      describeViolation(violation),
      'src/host/task/x.ts:2 imports or uses host/pool/pool.ts, but host/task may import only shared/*, host/metrics',
    )
  })

  const allowed = [
    ['a room beneath', 'host/pool/x.ts', "import { Task } from '../task/task.js'"],
    ['its own room', 'host/pool/x.ts', "import { Pool } from './pool.js'"],
    ['an adapter at the front door', 'adapters/one/x.ts', "import { Pool } from '../../index.js'"],
    [
      'an adapter at the door of workers',
      'adapters/one/x.ts',
      "import { move } from '../../worker/index.js'",
    ],
    ['types of threads', 'host/pool/x.ts', "import type { Worker } from 'node:worker_threads'"],
    ['other names of worker_threads', 'host/pool/x.ts', "import { SHARE_ENV } from 'node:worker_threads'"],
    ['members named like a global', 'host/pool/x.ts', 'const it = { setTimeout: 1 }\nit.setTimeout'],
    ['a test that sets a timer', 'host/pool/x.test.ts', 'setTimeout(done, 1)'],
  ]
  for (const [title, path, text] of allowed) {
    test(`lets pass ${title}`, () => {
      assert.deepEqual(plant(path, text), [])
    })
  }
})
