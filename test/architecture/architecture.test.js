// Source files import only what architecture.json allows and never in a circle. The checker itself is tested as well.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { describeViolation, findCircles, findViolations } from './check.js'

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

function withoutTests(files) {
  return new Map([...files].filter(([path]) => !path.endsWith('.test.ts')))
}

/** Returns the violations that an additional file causes. */
function plant(path, text) {
  const found = findViolations(table, new Map([...sources, [path, text]]))
  return found.filter(({ file }) => file === `src/${path}`)
}

describe('the files of src/', () => {
  test('every import in src/ is allowed by architecture.json', () => {
    assert.deepEqual(findViolations(table, sources).map(describeViolation), [])
  })

  test('every folder and file in architecture.json exists', () => {
    const named = [
      ...Object.keys(table.folders),
      ...Object.values(table.folders).flat(),
      ...table.owners.flatMap(({ files }) => files),
      ...table.everywhere.folders,
    ]
    const paths = [...sources.keys()]
    for (const name of new Set(named)) {
      const folder = name.replace(/\/\*$/, '')
      assert.ok(
        paths.some(path => path === folder || path.startsWith(`${folder}/`)),
        `there is no src/${folder}`,
      )
    }
  })

  test('architecture.json allows no import circle between folders', () => {
    const visit = (folder, trail) => {
      assert.ok(!trail.includes(folder), `${[...trail, folder].join(' → ')}`)
      for (const next of table.folders[folder] ?? []) visit(next, [...trail, folder])
    }
    for (const folder of Object.keys(table.folders)) visit(folder, [])
  })

  test('source files do not import each other in a circle', () => {
    assert.deepEqual(findCircles(table, withoutTests(sources)), [])
  })
})

describe('the checker', () => {
  const cases = [
    [
      'an import from a lower folder to a higher one',
      'shared/platform/x.ts',
      "import '../errors/pool-errors.js'",
    ],
    ['a type import', 'shared/platform/x.ts', "import type { PoolError } from '../errors/pool-errors.js'"],
    ['an inline type import', 'host/task/x.ts', "import { type Pool } from '../pool.js'"],
    ['a type written as import()', 'host/task/x.ts', "let pool: import('../pool.js').Pool"],
    ['a re-export', 'host/queue/x.ts', "export { Scheduler } from '../scheduler/scheduler.js'"],
    ['a re-export of everything', 'host/queue/x.ts', "export * from '../scheduler/scheduler.js'"],
    ['a dynamic import', 'host/queue/x.ts', "await import('../pool.js')"],
    ['require()', 'host/queue/x.ts', "require('../pool.js')"],
    [
      'the host that imports the worker',
      'host/engine/x.ts',
      "import { serve } from '../../worker/run/serve.js'",
    ],
    ['the worker that imports the host', 'worker/x.ts', "import { Pool } from '../host/pool.js'"],
    [
      'an import from the host to the worker',
      'host/engine/x.ts',
      "import { serve } from '../../worker/run/serve.js'",
    ],
    ['an import from the worker to the host', 'worker/x.ts', "import { Pool } from '../host/pool.js'"],
    [
      'an adapter that imports an internal file',
      'adapters/one/x.ts',
      "import { Pool } from '../../host/pool.js'",
    ],
    ['an import of another package', 'host/engine/x.ts', "import fastify from 'fastify'"],
    ['an optional package in the wrong file', 'host/engine/x.ts', "await import('@napi-rs/nice')"],
    ["a Node module without 'node:'", 'host/engine/x.ts', "import 'fs'"],
    ['an import that leads nowhere', 'host/engine/x.ts', "import './nowhere.js'"],
    ['a computed import', 'host/engine/x.ts', "const name = 'fs'\nawait import(name)", 2],
    ['a file outside all folders', 'utils/x.ts', ''],
    ['Atomics in the wrong file', 'worker/x.ts', 'Atomics.load(words, 0)'],
    ['Atomics read from globalThis', 'worker/x.ts', 'globalThis.Atomics.load(words, 0)'],
    ['a timer in the wrong file', 'host/engine/x.ts', 'setTimeout(done, 1)'],
    ['a timer read from an object', 'host/engine/x.ts', 'const { setTimeout: later } = globalThis\nlater()'],
    ['an import of timers', 'host/engine/x.ts', "import { setTimeout as wait } from 'node:timers/promises'"],
    ['an import of performance', 'host/engine/x.ts', "import { performance } from 'node:perf_hooks'"],
    ['an import of util', 'host/engine/x.ts', "import { types } from 'node:util'"],
    ['Date in the wrong file', 'host/engine/x.ts', 'Date.now()'],
    [
      'an import of Worker outside the backend',
      'host/engine/x.ts',
      "import { Worker } from 'node:worker_threads'",
    ],
    [
      'an import of all of worker_threads outside the backend',
      'host/engine/x.ts',
      "import * as t from 'node:worker_threads'",
    ],
    [
      'an import of child_process outside the backend',
      'host/engine/x.ts',
      "import { fork } from 'node:child_process'",
    ],
    [
      'Worker read from getBuiltinModule() outside the backend',
      'host/engine/x.ts',
      "const { Worker: Thread } = process.getBuiltinModule('node:worker_threads')",
    ],
    [
      'a whole module read from getBuiltinModule()',
      'host/engine/x.ts',
      "spawn(getBuiltinModule('node:child_process'))",
    ],
  ]
  for (const [title, path, text, line = 1] of cases) {
    test(`the checker reports ${title}`, () => {
      const [violation, ...more] = plant(path, text)
      assert.ok(violation, 'the checker noticed nothing')
      assert.deepEqual(more, [])
      assert.equal(violation.file, `src/${path}`)
      assert.equal(violation.line, line)
      assert.notEqual(violation.rule, '')
    })
  }

  test('the checker reports an adapter that imports another adapter', () => {
    const more = new Map([
      ...sources,
      ['adapters/one/x.ts', ''],
      ['adapters/two/y.ts', "import '../one/x.js'"],
    ])
    const [violation] = findViolations(table, more).filter(({ file }) => file === 'src/adapters/two/y.ts')
    assert.equal(violation.imported, 'adapters/one/x.ts')
  })

  const circles = [
    ['two files', [`import { b } from './b.js'`, `import { a } from './a.js'`], 'x/a.ts → x/b.ts → x/a.ts'],
    ['types', [`import type { B } from './b.js'`, `export type * from './a.js'`], 'x/a.ts → x/b.ts → x/a.ts'],
    [
      'three files',
      [`import './b.js'`, `import './c.js'`, `import './a.js'`],
      'x/a.ts → x/b.ts → x/c.ts → x/a.ts',
    ],
  ]
  for (const [title, texts, circle] of circles) {
    test(`the checker reports an import circle of ${title}`, () => {
      const files = texts.map((text, index) => [`x/${'abc'[index]}.ts`, text])
      assert.deepEqual(findCircles(table, new Map(files)), [circle])
    })
  }

  test('the checker allows two files that import a third file', () => {
    const files = new Map([
      ['x/a.ts', `import './b.js'\nimport './c.js'`],
      ['x/b.ts', `import './c.js'`],
      ['x/c.ts', ''],
    ])
    assert.deepEqual(findCircles(table, files), [])
  })

  test('describeViolation() names file, line, import and rule', () => {
    const [violation] = plant('host/task/x.ts', "// Why.\nimport { Pool } from '../pool.js'")
    assert.equal(
      describeViolation(violation),
      'src/host/task/x.ts:2 imports or uses host/pool.ts, but host/task may import only api, shared/*, host/metrics',
    )
  })

  const allowed = [
    ['an import from an allowed folder', 'host/engine/x.ts', "import { Task } from '../task/task.js'"],
    ['an import from the same folder', 'host/engine/x.ts', "import { Engine } from './core.js'"],
    ['an adapter that imports index.ts', 'adapters/one/x.ts', "import { Pool } from '../../index.js'"],
    ['an adapter that imports worker.ts', 'adapters/one/x.ts', "import { move } from '../../worker.js'"],
    [
      'a type import of Worker outside the backend',
      'host/engine/x.ts',
      "import type { Worker } from 'node:worker_threads'",
    ],
    [
      'an import of SHARE_ENV outside the backend',
      'host/engine/x.ts',
      "import { SHARE_ENV } from 'node:worker_threads'",
    ],
    [
      'a member with the name of a timer function',
      'host/engine/x.ts',
      'const it = { setTimeout: 1 }\nit.setTimeout',
    ],
    ['a test that sets a timer', 'host/engine/x.test.ts', 'setTimeout(done, 1)'],
  ]
  for (const [title, path, text] of allowed) {
    test(`the checker allows ${title}`, () => {
      assert.deepEqual(plant(path, text), [])
    })
  }
})
