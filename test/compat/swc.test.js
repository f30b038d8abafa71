// The compiler of @swc/cli, a program built on Piscina 4, runs on lido through an npm override.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { borrowProject, installedAs, returnProject, runCommand, spawnRecorder } from './borrowed-project.js'

const fileCount = 200

function writeSources(directory) {
  mkdirSync(directory, { recursive: true })
  for (let i = 0; i < fileCount; i++) {
    const name = `file-${String(i).padStart(3, '0')}`
    const text =
      i % 2 === 0
        ? `export interface Item { id: number }\nexport const item: Item = { id: ${i} }\n`
        : `export const twice = value => value?.number ?? ${i}\n`
    writeFileSync(join(directory, name + (i % 2 === 0 ? '.ts' : '.js')), text)
  }
}

describe('@swc/cli on lido', { timeout: 300_000 }, () => {
  let project

  before(async () => {
    project = await borrowProject({ dependencies: { '@swc/cli': '~0.8.0', '@swc/core': '^1.16.0' } })
    writeSources(join(project, 'src'))
  })

  after(() => returnProject(project))

  test('npm installs lido-as-piscina as the only piscina', async () => {
    const installed = await installedAs(project, 'piscina')
    assert.deepEqual(
      installed.map(({ location, name }) => ({ location, name })),
      [{ location: 'node_modules/piscina', name: 'lido-as-piscina' }],
    )
  })

  test(`swc compiles ${fileCount} files on lido's workers and leaves no process behind`, async () => {
    const recorder = spawnRecorder(project)
    const { exitCode, output, timedOut, leftBehind } = await runCommand(
      'npx',
      ['swc', 'src', '-d', 'out', '--strip-leading-paths', '--workers', '2'],
      { cwd: project, env: recorder.env },
    )
    assert.equal(exitCode, 0, output)
    assert.ok(!timedOut, output)
    assert.ok(!leftBehind, 'a process was left behind')
    assert.match(output, new RegExp(`Successfully compiled: ${fileCount} files`))

    const compiled = readdirSync(join(project, 'out')).filter(name => name.endsWith('.js'))
    assert.equal(compiled.length, fileCount)
    assert.ok(!readFileSync(join(project, 'out', 'file-000.js'), 'utf8').includes('interface'))

    const startedFrom = recorder.startedFrom()
    assert.ok(startedFrom.length >= 1 && startedFrom.length <= 2, `workers: ${startedFrom.join(', ')}`)
    for (const file of startedFrom) assert.match(file, /node_modules[\\/]lido[\\/]dist[\\/]/)
  })

  test('a file that does not compile is reported with its name, and the other files are compiled', async () => {
    writeFileSync(join(project, 'src', 'broken.ts'), 'export const = 1\n')
    const { exitCode, output, timedOut, leftBehind } = await runCommand(
      'npx',
      ['swc', 'src', '-d', 'out-2', '--strip-leading-paths', '--workers', '2'],
      { cwd: project },
    )
    assert.equal(exitCode, 1, output)
    assert.ok(!timedOut, output)
    assert.ok(!leftBehind, 'a process was left behind')
    assert.match(output, /broken\.ts/)
    assert.equal(readdirSync(join(project, 'out-2')).filter(name => name.endsWith('.js')).length, fileCount)
  })
})
