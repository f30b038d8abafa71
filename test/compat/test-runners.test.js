// Test runners run their tests on lido through npm overrides, and on their own pool. Each run prints both times.
//   LIDO_PROGRAMS_ALL=1   also runs jest-light-runner, and all pools of Vitest
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { borrowProject, installedAs, returnProject, runCommand } from './borrowed-project.js'

const runsAll = process.env.LIDO_PROGRAMS_ALL === '1'
const peers = ['tinypool', 'workerpool']
const fileCount = 6
const dependencies = { mocha: '^12.0.0', vitest: '^3.2.0' }
if (runsAll) Object.assign(dependencies, { jest: '^30.0.0', 'jest-light-runner': '^0.7.13' })

const vitestFile = at => `import { expect, test } from 'vitest'

globalThis.files = (globalThis.files ?? 0) + 1
test('test ${at}', async () => {
  await new Promise(resolve => setTimeout(resolve, 20))
  expect(globalThis.files).toBe(1)
  expect(['1', '2']).toContain(process.env.VITEST_POOL_ID)
})
`
const mochaFile = at => `const assert = require('node:assert')

describe('suite ${at}', () => {
  it('passes', async () => {
    await new Promise(resolve => setTimeout(resolve, 20))
    assert.match(process.env.MOCHA_WORKER_ID, /^[01]$/)
  })
})
`
const jestFile = at => `test('test ${at}', async () => {
  await new Promise(resolve => setTimeout(resolve, 20))
  expect(['1', '2']).toContain(process.env.JEST_WORKER_ID)
})
`

function writeProject(project) {
  const folders = { vitest: vitestFile, mocha: mochaFile, jest: jestFile }
  for (const [folder, textOf] of Object.entries(folders)) {
    mkdirSync(join(project, folder))
    const extension = folder === 'vitest' ? 'test.mjs' : 'test.cjs'
    for (let at = 0; at < fileCount; at++)
      writeFileSync(join(project, folder, `file-${at}.${extension}`), textOf(at))
  }
  writeFileSync(
    join(project, 'vitest', 'broken.test.mjs'),
    `import { expect, test } from 'vitest'\n\ntest('fails', () => expect(1).toBe(2))\ntest('exits', () => process.exit(3))\n`,
  )
  writeFileSync(join(project, 'mocha', 'broken.cjs'), `it('fails', () => { throw new TypeError('no') })\n`)
}

const vitest = (pool, ...more) => ({
  name: `Vitest --pool=${pool}${more.map(flag => ` ${flag}`).join('')}`,
  args: ['vitest', 'run', 'vitest/file-', `--pool=${pool}`, '--maxWorkers=2', '--minWorkers=1', ...more],
  passed: new RegExp(`Tests +${fileCount} passed \\(${fileCount}\\)`),
})
const programs = [
  vitest('forks'),
  vitest('threads'),
  {
    name: 'mocha --parallel',
    args: ['mocha', '--parallel', '--jobs', '2', 'mocha/*.test.cjs'],
    passed: new RegExp(`${fileCount} passing`),
  },
]
if (runsAll) {
  programs.push(vitest('vmThreads'), vitest('vmForks'))
  for (const [name, runner] of [
    ['threads', 'jest-light-runner'],
    ['processes', 'jest-light-runner/child-process'],
  ]) {
    programs.push({
      name: `jest-light-runner, ${name}`,
      args: ['jest', '--maxWorkers=2', `--runner=${runner}`, '--testMatch=**/jest/*.test.cjs'],
      passed: new RegExp(`Tests: +${fileCount} passed, ${fileCount} total`),
    })
  }
}

describe('test runners on their own pool and on lido', { timeout: 400_000 }, () => {
  const projects = {}

  before(async () => {
    for (const [pool, replaced] of Object.entries({ own: [], lido: peers })) {
      projects[pool] = await borrowProject({ dependencies, peers: replaced })
      writeProject(projects[pool])
    }
  })

  after(() => {
    for (const project of Object.values(projects)) returnProject(project)
  })

  async function run(pool, args) {
    const startedAt = performance.now()
    const ended = await runCommand('npx', args, { cwd: projects[pool], env: { NO_COLOR: '1', CI: '1' } })
    assert.ok(!ended.timedOut, `the program did not end:\n${ended.output}`)
    assert.ok(!ended.leftBehind, `a process was left behind:\n${ended.output}`)
    return { ...ended, tookMs: Math.round(performance.now() - startedAt) }
  }

  test('npm installs only lido in place of tinypool and workerpool', async () => {
    for (const peer of peers) {
      const installed = (await installedAs(projects.lido, peer)).map(({ name }) => name)
      assert.deepEqual(installed, [`lido-as-${peer}`])
      assert.ok((await installedAs(projects.own, peer)).every(({ name }) => name === peer))
    }
  })

  for (const { name, args, passed } of programs) {
    test(`${name} passes on both`, async t => {
      const times = {}
      for (const pool of Object.keys(projects)) {
        const { exitCode, output, tookMs } = await run(pool, args)
        assert.equal(exitCode, 0, output)
        assert.match(output, passed)
        times[pool] = tookMs
      }
      t.diagnostic(`${name}: own pool ${times.own} ms, lido ${times.lido} ms`)
    })
  }

  test('a failing test is reported by Vitest and by mocha', async () => {
    const broken = await run('lido', ['vitest', 'run', 'vitest/broken', '--pool=forks'])
    assert.equal(broken.exitCode, 1, broken.output)
    assert.match(broken.output, /expected 1 to be 2/)
    assert.match(broken.output, /process\.exit unexpectedly called with "3"/)
    const failing = await run('lido', [
      'mocha',
      '--parallel',
      '--jobs',
      '2',
      'mocha/broken.cjs',
      'mocha/file-0.test.cjs',
    ])
    assert.equal(failing.exitCode, 1, failing.output)
    assert.match(failing.output, /1 passing[\s\S]*1 failing[\s\S]*TypeError: no/)
  })
})
