// The budgets of the package: what a reader or a worker must load stays small.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = new URL('../../', import.meta.url)

/** The files that a declaration file refers to, directly and through others, with itself. */
function reached(url, found = new Set()) {
  if (found.has(url.href)) return found
  found.add(url.href)
  for (const [, specifier] of readFileSync(url, 'utf8').matchAll(/ from ['"](\.\.?\/[^'"]+)\.js['"]/g))
    reached(new URL(`${specifier}.d.ts`, url), found)
  return found
}

test('the types of lido reach at most 25 declaration files, and no internal ones', () => {
  const files = [...reached(new URL('dist/cjs/index.d.ts', root))].map(href => fileURLToPath(href))
  assert.ok(files.length <= 25, `${files.length} files:\n${files.join('\n')}`)
  const internal = files.filter(file => /host[\\/](engine|lane|scheduler|workers|task)[\\/]/.test(file))
  assert.deepEqual(internal, [])
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
