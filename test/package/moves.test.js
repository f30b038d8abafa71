// The programs of the guides that move from another library: before and after print the same.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { project } from './installed.js'
import { addPackages, readPage, writePrograms } from './page-programs.js'

addPackages('poolifier')

function output(folder, file) {
  return execFileSync(process.execPath, [file], { cwd: join(project, folder), encoding: 'utf8' }).trimEnd()
}

for (const [name, printed] of [
  ['from-poolifier', '9\n[ 1, 8, 27 ]'],
  ['from-worker-threads', '6765'],
]) {
  test(`both programs of ${name}.md print the same`, () => {
    writePrograms(readPage(`docs/guides/${name}.md`), name)
    assert.equal(output(name, 'before.mjs'), printed)
    assert.equal(output(name, 'after.mjs'), printed)
  })
}

test('the programs of from-jest-worker.md print the same', () => {
  const folder = 'from-jest-worker'
  const page = readPage(`docs/guides/${folder}.md`)
  const [, version] = /jest-worker (\d+\.\d+\.\d+)/.exec(page)
  writePrograms(page, folder)
  // From the registry, because this repository does not depend on it.
  const arguments_ = [
    'install',
    `jest-worker@${version}`,
    '--no-audit',
    '--no-fund',
    '--no-save',
    '--ignore-scripts',
  ]
  execFileSync('npm', arguments_, {
    cwd: project,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  for (const file of ['before.mjs', 'after.mjs']) assert.equal(output(folder, file), '5\nhello-world', file)
  assert.equal(output(folder, 'sticky.mjs'), "[ 'a', 'b', 'a' ]")
})
