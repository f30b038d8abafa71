// Holds the reference against the code: options, errors, events and members are named on both sides, or on neither.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as lidoNames from 'lido'
import * as workerNames from 'lido/worker'
import ts from 'typescript'

const lido = { ...lidoNames }
const root = fileURLToPath(new URL('../../', import.meta.url))
const page = name => readFileSync(join(root, name), 'utf8')
const pool = page('docs/reference/pool.md')
const errors = page('docs/reference/errors.md')

/** The text under a heading that begins with these words, up to the next heading. */
function section(text, heading) {
  const found = text.split(/^(?=## )/m).find(part => part.startsWith(`## ${heading}`))
  assert.ok(found, `no heading '${heading}'`)
  return found
}

/** The rows of the tables in a text, each as its cells. */
function tableRows(text) {
  const rows = text.split('\n').filter(line => line.startsWith('| ') && !/^[|\s:-]+$/.test(line))
  return rows.slice(1).map(line =>
    line
      .slice(1, -1)
      .split(' | ')
      .map(cell => cell.replace(/^\|/, '').trim()),
  )
}

/** The words in backticks. */
function coded(text) {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word)
}

function declarations(file) {
  const source = ts.createSourceFile(file, page(file), ts.ScriptTarget.Latest, true)
  return new Map(
    source.statements.filter(statement => statement.name).map(statement => [statement.name.text, statement]),
  )
}

function memberNames(file, name) {
  const declaration = declarations(file).get(name)
  assert.ok(declaration, `no ${name} in ${file}`)
  return declaration.members.filter(member => member.name).map(member => member.name.text)
}

/** What users reach of a class, without what only the house may call. */
function publicNames(prototype) {
  return Object.getOwnPropertyNames(prototype).filter(name => name !== 'constructor')
}

function assertSame(one, other) {
  assert.deepEqual([...one].sort(), [...other].sort())
}

test('the reference names every event, and no other', () => {
  assertSame(
    tableRows(section(pool, 'Events')).flatMap(([names]) => coded(names)),
    memberNames('src/host/pool/pool.ts', 'PoolEvents'),
  )
})

describe('the reference names every error', () => {
  const classes = Object.entries(lido).filter(([, value]) => value?.prototype instanceof lido.PoolError)
  const families = ['WorkerError']
  const rows = new Map(
    tableRows(errors).map(([names, code, fields]) => [coded(names)[0], { code: coded(code)[0], fields }]),
  )
  const sources = declarations('src/shared/errors/pool-errors.ts')

  /** The code a class hands to its parent. */
  function codeOf(name) {
    return /'(ERR_\w+)'/.exec(sources.get(name).getText())?.[1]
  }

  function fieldsOf(name) {
    const own = sources
      .get(name)
      .members.filter(ts.isPropertyDeclaration)
      .map(member => member.name.text)
    const parent = Object.getPrototypeOf(lido[name]).name
    return parent === 'PoolError' ? own : [...own, ...fieldsOf(parent)]
  }

  test('and no other', () => {
    assertSame(
      [...rows.keys()],
      classes.map(([name]) => name).filter(name => !families.includes(name)),
    )
    for (const family of [...families, 'PoolError', 'isPoolError'])
      assert.ok(errors.includes(`\`${family}`), family)
  })

  for (const [name, { code, fields }] of rows) {
    test(`${name} has its code and fields`, () => {
      assert.equal(code, codeOf(name))
      for (const field of fieldsOf(name))
        assert.ok(coded(fields).includes(field) || fields.includes(`\`${field}\``), field)
    })
  }

  test('that run() may reject with where run() is described', () => {
    const named = coded(section(pool, '`pool.run(')).filter(word => word.endsWith('Error') && word in lido)
    const elsewhere = ['InvalidOptionError', 'TeardownError']
    const duringRun = [...rows.keys()].filter(name => !elsewhere.includes(name))
    assertSame(
      new Set(named),
      duringRun.filter(name => name !== 'AbortError'),
    )
  })
})

describe('the reference names every member', () => {
  test('of a pool', () => {
    for (const name of publicNames(lido.Pool.prototype)) {
      assert.ok(pool.includes(`\`pool.${name}`) || pool.includes(`\`${name}(`), name)
    }
  })

  test('of a worker as users see it', async () => {
    const made = new lido.Pool({ minWorkers: 1, maxWorkers: 1 })
    const said = /`WorkerView` is live[^`]*`\{ (.*?) \}`/s.exec(pool)?.[1]
    assertSame(
      said.split(', ').map(name => name.replace('()', '')),
      publicNames(Object.getPrototypeOf(made.workers[0])),
    )
    await made.destroy()
  })

  test('of a task as queues and balancers see it', () => {
    const said = /`QueuedTask`: `\{ (.*?) \}`/.exec(pool)?.[1]
    assertSame(said.split(', '), memberNames('src/host/task/queued-task.ts', 'QueuedTask'))
  })

  test('of what close() tells', () => {
    const said = /resolves to\s+`\{ (.*?) \}`/.exec(pool)?.[1]
    assertSame(said.split(', '), memberNames('src/host/pool/call-options.ts', 'CloseReport'))
  })

  test('of a duration', () => {
    const said = /\(each `\{ (.*?) \}`/.exec(pool)?.[1]
    assertSame(
      said.split(', ').map(name => name.replace(/\(.*/, '')),
      memberNames('src/host/metrics/histogram.ts', 'DurationSummary'),
    )
  })

  test('of a queue, and every kind of it', () => {
    const queues = section(pool, 'Queues')
    const [, written] = /```ts\n(.*?)```/s.exec(queues)
    const [shown] = ts.createSourceFile('queues.ts', written, ts.ScriptTarget.Latest).statements
    assertSame(
      shown.members.map(member => member.name.text),
      memberNames('src/host/queue/task-queue.ts', 'TaskQueue'),
    )
    for (const name of Object.keys(lido).filter(name => name.endsWith('Queue')))
      assert.ok(queues.includes(`\`${name}`), name)
  })

  test('of the door for handlers', () => {
    const said = section(pool, 'In the worker')
    for (const name of Object.keys(workerNames)) assert.ok(said.includes(name), name)
  })
})

describe('the pages', () => {
  const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
  for (const folder of ['docs', 'docs/reference', 'docs/design', 'docs/guides']) {
    for (const name of readdirSync(join(root, folder)))
      if (name.endsWith('.md')) pages.push(`${folder}/${name}`)
  }

  test('link to files that are there', () => {
    for (const name of pages) {
      for (const [, target] of page(name).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)) {
        assert.ok(existsSync(join(root, dirname(name), target)), `${name}: ${target}`)
      }
    }
  })

  test('name commands that are there', () => {
    const { scripts } = JSON.parse(page('package.json'))
    for (const name of pages) {
      for (const [, script] of page(name).matchAll(/\bnpm run ([\w:-]+)/g))
        assert.ok(scripts[script], `${name}: ${script}`)
      for (const [, file] of page(name).matchAll(/\bnode ((?:examples|scripts|bench)\/[\w/.-]+\.js)/g)) {
        assert.ok(existsSync(join(root, file)), `${name}: ${file}`)
      }
    }
  })

  test('count what is not copied from Piscina as its tests do', () => {
    const rows = tableRows(section(page('docs/piscina.md'), 'What is not copied')).map(([number]) =>
      Number(number),
    )
    assert.deepEqual(
      rows,
      Array.from(rows, (_, index) => index + 1),
    )
    const tests = page('test/compat/not-copied.test.js')
    for (const number of rows)
      assert.match(tests, new RegExp(`['"\`(]${number}\\b`), `no test of number ${number}`)
    const words = { 12: 'Twelve', 13: 'Thirteen', 14: 'Fourteen', 15: 'Fifteen', 16: 'Sixteen' }
    assert.ok(
      page('README.md').includes(`${words[rows.length]} behaviours are not copied`),
      `${rows.length} rows`,
    )
  })
})
