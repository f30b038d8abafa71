// Compares the reference with the code: both must name the same options, errors, events and members.
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
const queues = page('docs/reference/queues.md')
const statistics = page('docs/reference/statistics.md')
const errors = page('docs/reference/errors.md')

/** The text under the heading that starts with these words, up to the next heading of its level or of a higher one. */
function section(text, heading, level = '##') {
  const parts = text.split(level === '##' ? /^(?=## )/m : /^(?=###? )/m)
  const found = parts.find(part => part.startsWith(`${level} ${heading}`))
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

/** The words in backticks, without code blocks. */
function coded(text) {
  const prose = text.replace(/^ *```.*?^ *```$/gms, '')
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, word]) => word)
}

/** The names in the first column of a table. A method is named as in `remove(task)`. */
function namesIn(text) {
  return tableRows(text)
    .flatMap(([names]) => coded(names))
    .map(name => name.replace(/\(.*/, ''))
}

/** The anchors that GitHub makes for the headings of a page. */
function anchorsOf(text) {
  const headings = text.replace(/^ *```.*?^ *```$/gms, '').matchAll(/^#{1,6} (.*)$/gm)
  return new Set(
    Array.from(headings, ([, heading]) =>
      heading
        .toLowerCase()
        .replaceAll(/\]\([^)]*\)/g, '')
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}

function declarations(file) {
  const source = ts.createSourceFile(file, page(file), ts.ScriptTarget.Latest, true)
  return new Map(
    source.statements.filter(statement => statement.name).map(statement => [statement.name.text, statement]),
  )
}

/** The members of a public interface. */
function memberNames(name) {
  const files = readdirSync(new URL('../../src/api/', import.meta.url))
  const declaration = files.map(file => declarations(`src/api/${file}`).get(name)).find(Boolean)
  assert.ok(declaration, `no ${name} in src/api`)
  return declaration.members.filter(member => member.name).map(member => member.name.text)
}

/** The public members of a class. */
function publicNames(prototype) {
  return Object.getOwnPropertyNames(prototype).filter(name => name !== 'constructor')
}

function assertSame(one, other) {
  assert.deepEqual([...one].sort(), [...other].sort())
}

test('the reference names exactly the events of the code', () => {
  assertSame(namesIn(section(pool, 'Events')), memberNames('PoolEvents'))
})

describe('errors in the reference', () => {
  const classes = Object.entries(lido).filter(([, value]) => value?.prototype instanceof lido.PoolError)
  const families = ['WorkerError']
  const rows = new Map(
    tableRows(section(errors, 'Classes').split('###')[0]).map(([names, code, fields]) => [
      coded(names)[0],
      { code: coded(code)[0], fields },
    ]),
  )
  const sources = declarations('src/shared/errors/pool-errors.ts')

  /** The error code that a class passes to its parent class. */
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

  test('the reference names exactly the error classes of the code', () => {
    assertSame(
      [...rows.keys()],
      classes.map(([name]) => name).filter(name => !families.includes(name)),
    )
    for (const family of [...families, 'PoolError', 'isPoolError'])
      assert.ok(errors.includes(`\`${family}`), family)
  })

  for (const [name, { code, fields }] of rows) {
    test(`the reference names the code and the fields of ${name}`, () => {
      assert.equal(code, codeOf(name))
      for (const field of fieldsOf(name))
        assert.ok(coded(fields).includes(field) || fields.includes(`\`${field}\``), field)
      assert.ok(section(errors, `\`${name}\``, '###').length > 0)
    })
  }

  test('the section about run() names every error that run() may reject with', () => {
    const named = coded(section(pool, '`pool.run(')).filter(word => word.endsWith('Error') && word in lido)
    const duringRun = [...rows.keys()].filter(name => name !== 'TeardownError')
    assertSame(new Set(named), duringRun)
  })
})

describe('members in the reference', () => {
  test('the reference names every member of Pool', () => {
    const { prototype } = lido.Pool
    for (const name of [...publicNames(prototype), ...publicNames(Object.getPrototypeOf(prototype))]) {
      assert.ok(pool.includes(`\`pool.${name}`) || pool.includes(`\`${name}(`), name)
    }
  })

  test('the reference names exactly the members of WorkerView', async () => {
    const made = new lido.Pool({ minWorkers: 1, maxWorkers: 1 })
    assertSame(namesIn(section(pool, 'WorkerView')), publicNames(Object.getPrototypeOf(made.workers[0])))
    await made.destroy()
  })

  test('the reference names exactly the members of QueuedTask', () => {
    assertSame(namesIn(section(queues, 'QueuedTask', '###')), memberNames('QueuedTask'))
  })

  test('the reference names exactly the members of CloseReport', () => {
    const said = /resolves to\s+`\{ (.*?) \}`/.exec(pool)?.[1]
    assertSame(said.split(', '), memberNames('CloseReport'))
  })

  test('the reference names exactly the members of DurationSummary', () => {
    assertSame(namesIn(section(statistics, '`pool.histogram')), memberNames('DurationSummary'))
  })

  test('the reference names exactly the members of PoolStats, TaskCounts and HandlerStats', () => {
    const snapshot = section(statistics, '`pool.stats()').split('###')[0]
    assertSame(namesIn(snapshot), memberNames('PoolStats'))
    const counts = memberNames('TaskCounts')
    assertSame(namesIn(section(statistics, '`tasks`', '###')), [...counts, 'waiting', 'inFlight'])
    assertSame(namesIn(section(statistics, 'Is it worth a worker?')), memberNames('HandlerStats'))
  })

  test('the reference names exactly the members of TaskQueue, and every queue class', () => {
    const [, written] = /```ts\n(.*?)```/s.exec(queues)
    const [shown] = ts.createSourceFile('queues.ts', written, ts.ScriptTarget.Latest).statements
    assertSame(
      shown.members.map(member => member.name.text),
      memberNames('TaskQueue'),
    )
    for (const name of Object.keys(lido).filter(name => name.endsWith('Queue')))
      assert.ok(queues.includes(`\`${name}`), name)
  })

  test('the reference names every export of lido/kit', async () => {
    const said = page('docs/reference/kit.md')
    for (const name of Object.keys(await import('lido/kit'))) assert.ok(said.includes(`\`${name}`), name)
  })

  test('the reference names every export of lido/worker', () => {
    const said = page('docs/reference/worker.md')
    for (const name of Object.keys(workerNames)) assert.ok(said.includes(`\`${name}`), name)
  })
})

describe('troubleshooting', () => {
  const troubleshooting = page('docs/troubleshooting.md')
  const sections = new Map(
    troubleshooting
      .split(/^(?=##)/m)
      .map(text => [/^### ((?:ERR_|LIDO_)\w+)$/m.exec(text)?.[1], text])
      .filter(([code]) => code !== undefined),
  )
  const sources = readdirSync(join(root, 'src'), { recursive: true })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(name => page(join('src', name)))
    .join('\n')
  const codes = [/'(ERR_LIDO_\w+)'/g, /super\(\s*'(ERR_\w+)'/g, /\bcode: '(LIDO_\w+)'/g].flatMap(pattern =>
    Array.from(sources.matchAll(pattern), ([, code]) => code),
  )

  test('the page has exactly the codes of the errors and warnings in the source', () => {
    assertSame(sections.keys(), new Set(codes))
  })

  for (const [code, text] of sections) {
    test(`the section of ${code} has the event, the causes, the remedy and a link`, () => {
      for (const part of ['**What happened.**', '**Common causes**\n\n- ', '**What to do'])
        assert.ok(text.includes(part), part)
      assert.match(text.slice(text.indexOf('**What to do')), /\]\([\w./-]+\.md/)
    })
  }
})

describe('comparison', () => {
  const comparison = page('docs/comparison.md')
  const [tables, facts] = comparison.split('## Facts')
  const rows = Array.from(
    tables.matchAll(/^\| \[(.+)\]\(#([\w-]+)\) \| (.*) \|$/gm),
    ([, feature, , cells]) => ({ feature, cells: cells.split(' | ') }),
  )
  const peers = ['piscina', 'tinypool', 'workerpool', 'poolifier', 'jest-worker']

  test('each yes of lido links to an existing test', () => {
    assert.ok(rows.length > 40, `${rows.length} rows`)
    for (const { feature, cells } of rows) {
      if (cells[0] === '✗ no') continue
      const [, file] = /^\[✓ yes\]\(\.\.\/(test\/[\w/-]+\.test\.js)\)$/.exec(cells[0]) ?? []
      assert.ok(file !== undefined && existsSync(join(root, file)), `${feature}: ${cells[0]}`)
    }
  })

  test('each statement about another pool has a fact', () => {
    for (const { feature, cells } of rows) {
      assert.equal(cells.length, 6, feature)
      for (const cell of cells.slice(1)) assert.match(cell, /^(✓ yes|◐ partly|✗ no)$/, feature)
      const named = Array.from(
        section(`##${facts}`, feature, '###').matchAll(/^- \*\*(.*?)\*\*: \S/gm),
        ([, names]) => names.split(', '),
      ).flat()
      assertSame(named, peers)
    }
  })

  test('the page names the versions of the packages that the benchmark installs', () => {
    for (const name of peers) {
      if (name === 'jest-worker') continue
      const { version } = JSON.parse(page(`node_modules/${name}/package.json`))
      assert.ok(tables.includes(`| ${name} | ${version} |`), `${name} ${version}`)
    }
  })
})

describe('documentation pages', () => {
  const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
  for (const folder of ['docs', 'docs/reference', 'docs/design', 'docs/guides', 'docs/recipes']) {
    for (const name of readdirSync(join(root, folder)))
      if (name.endsWith('.md')) pages.push(`${folder}/${name}`)
  }

  test('every relative link of a page leads to an existing file', () => {
    for (const name of pages) {
      for (const [, target] of page(name).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)) {
        assert.ok(existsSync(join(root, dirname(name), target)), `${name}: ${target}`)
      }
    }
  })

  test('every link to a heading leads to an existing heading', () => {
    for (const name of pages) {
      for (const [, target, anchor] of page(name).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)) {
        if (target !== '' && !target.endsWith('.md')) continue
        const file = target === '' ? name : join(dirname(name), target)
        assert.ok(anchorsOf(page(file)).has(anchor), `${name}: ${target}#${anchor}`)
      }
    }
  })

  test('every command on a page has an existing script or file', () => {
    const { scripts } = JSON.parse(page('package.json'))
    for (const name of pages) {
      for (const [, script] of page(name).matchAll(/\bnpm run ([\w:-]+)/g))
        assert.ok(scripts[script], `${name}: ${script}`)
      for (const [, file] of page(name).matchAll(/\bnode ((?:examples|scripts|bench)\/[\w/.-]+\.js)/g)) {
        assert.ok(existsSync(join(root, file)), `${name}: ${file}`)
      }
    }
  })

  test('the pages and the tests count the same behaviours that are not copied from Piscina', () => {
    const rows = tableRows(section(page('docs/guides/from-piscina.md'), 'What is not copied')).map(
      ([number]) => Number(number),
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
      page('README.md').includes(`${words[rows.length]} behaviours are different`),
      `${rows.length} rows`,
    )
  })
})
