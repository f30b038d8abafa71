// The flags and environment variables that a worker process inherits from this process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodeOf, inheritedFlags, processArguments, processEnvironment } from './process-surroundings.js'

const cases: [string, string[], string[]][] = [
  [
    'inherits flags for hooks and warnings',
    ['--import', './hook.js', '-r', 'x', '--no-warnings'],
    ['--import', './hook.js', '-r', 'x', '--no-warnings'],
  ],
  ['does not inherit the program text of -e', ['-e', 'code', '--input-type=module'], []],
  ['does not inherit the program text of -p', ['--expose-gc', '-p', '1 + 1'], ['--expose-gc']],
  [
    'does not inherit debugger flags',
    ['--inspect-brk=9229', '--inspect', '--debug-port=1', '--inspect-publish-uid=http'],
    [],
  ],
  [
    'does not inherit a value that follows a dropped flag as the next word',
    ['--input-type', 'module', '--inspect-port', '9339', '--test-reporter', 'spec', '--expose-gc'],
    ['--expose-gc'],
  ],
  ['does not inherit the snapshot', ['--snapshot-blob', 'program.blob', '--expose-gc'], ['--expose-gc']],
  ['does not inherit flags of the test runner', ['--test', '--test-concurrency=2', '--watch'], []],
  [
    'drops each flag together with its value when several dropped flags follow each other',
    ['--inspect-publish-uid', 'http', '--test-random-seed', '5', '--test', '--no-warnings', '-e', '-1'],
    ['--no-warnings'],
  ],
]
for (const [title, given, expected] of cases) {
  test(`a worker process ${title}`, () => assert.deepEqual(inheritedFlags(given), expected))
}

test('processArguments() puts the flags of memory limits before the entry file and arguments after it', () => {
  const words = processArguments(['/entry.js'], {
    name: 'images',
    execArgv: ['--expose-gc'],
    argv: ['a', 1],
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 7 },
  })
  assert.deepEqual(words, [
    '--title=images',
    '--expose-gc',
    '--max-old-space-size=64',
    '--max-semi-space-size=3',
    '/entry.js',
    'a',
    '1',
  ])
})

test('processArguments() rounds memory limits up to whole megabytes, to at least 1', () => {
  const limits = { maxOldGenerationSizeMb: 64.5, maxYoungGenerationSizeMb: 0 }
  assert.deepEqual(processArguments(['/entry.js'], { resourceLimits: limits }), [
    '--max-old-space-size=65',
    '--max-semi-space-size=1',
    '/entry.js',
  ])
})

test('processArguments() creates no flag for a memory limit that is infinite or too large for Node', () => {
  for (const limit of [Infinity, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER]) {
    const none = { maxOldGenerationSizeMb: limit, maxYoungGenerationSizeMb: limit }
    assert.deepEqual(processArguments(['/entry.js'], { resourceLimits: none }), ['/entry.js'])
  }
})

test('a worker process gets the environment of this process', () => {
  const environment = { WATCH_REPORT_DEPENDENCIES: '1', OTHER: 'x' }
  assert.deepEqual({ ...processEnvironment(environment) }, environment)
  assert.equal(processEnvironment(undefined).PATH, process.env.PATH)
})

test('NODE_OPTIONS loses its debugger flags when it is inherited, and keeps them when env sets it', t => {
  const before = process.env.NODE_OPTIONS
  t.after(() => {
    if (before === undefined) delete process.env.NODE_OPTIONS
    else process.env.NODE_OPTIONS = before
  })
  const told = { NODE_OPTIONS: '--inspect=0 --no-warnings --inspect-port=1' }
  process.env.NODE_OPTIONS = told.NODE_OPTIONS
  assert.equal(processEnvironment(undefined).NODE_OPTIONS, '--no-warnings')
  assert.deepEqual({ ...processEnvironment(told) }, told)
  process.env.NODE_OPTIONS = ' --no-warnings'
  assert.equal(processEnvironment(undefined).NODE_OPTIONS, ' --no-warnings')
  delete process.env.NODE_OPTIONS
  assert.equal('NODE_OPTIONS' in processEnvironment(undefined), false)
})

test('exitCodeOf() is 128 plus the number of the signal, or 1 without a signal', () => {
  assert.equal(exitCodeOf('SIGKILL'), 137)
  assert.equal(exitCodeOf(null), 1)
})
