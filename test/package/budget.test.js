// The budgets of the package: what a reader or a worker must load stays small.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import ts from 'typescript'
import { reachedTypes } from './reached-types.js'

const root = new URL('../../', import.meta.url)
const types = new URL('dist/cjs/', root)

const walls = [
  {
    entry: 'lido',
    file: 'index.d.ts',
    most: 23,
    internal: /^(host\/(engine|lane|scheduler|workers|task)|worker)\//,
  },
  {
    entry: 'lido/kit',
    file: 'kit.d.ts',
    most: 46,
    internal: /^(host\/(engine|lane|scheduler|workers)|shared\/(codec|lane)|worker)\//,
  },
]

for (const { entry, file, most, internal } of walls) {
  test(`the types of ${entry} reach at most ${most} declaration files, and no internal ones`, () => {
    const files = [...reachedTypes(new URL(file, types))].map(href => href.slice(types.href.length)).sort()
    assert.ok(files.length <= most, `${files.length} files:\n${files.join('\n')}`)
    assert.deepEqual(
      files.filter(name => internal.test(name)),
      [],
    )
  })
}

test('the code that a worker loads has at most 125 kB', t => {
  const { size } = statSync(new URL('dist/cjs/worker/entry/all.cjs', root))
  t.diagnostic(`${(size / 1000).toFixed(1)} kB`)
  assert.ok(size <= 125_000, `${size} bytes`)
})

test('no class of src/ has more than 30 methods and getters', () => {
  const folder = new URL('src/', root)
  const files = readdirSync(folder, { recursive: true }).filter(file => file.endsWith('.ts'))
  const large = files.flatMap(file => {
    const source = ts.createSourceFile(
      file,
      readFileSync(new URL(file, folder), 'utf8'),
      ts.ScriptTarget.Latest,
    )
    return source.statements
      .filter(ts.isClassDeclaration)
      .map(({ name, members }) => [`${name?.text} of ${file}`, members.filter(isMember).length])
      .filter(([, count]) => count > 30)
  })
  assert.deepEqual(large, [])
})

/** Overloads have no body. */
function isMember(member) {
  return (ts.isMethodDeclaration(member) && member.body) || ts.isAccessor(member)
}
