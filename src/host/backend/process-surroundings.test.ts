// Which flags and variables of this process a worker has too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodeOf, inheritedFlags, processArguments, processEnvironment } from './process-surroundings.js'

const cases: [string, string[], string[]][] = [
  [
    'hooks and limits',
    ['--import', './hook.js', '-r', 'x', '--no-warnings'],
    ['--import', './hook.js', '-r', 'x', '--no-warnings'],
  ],
  ['not the text to run', ['-e', 'code', '--input-type=module'], []],
  ['not the text to print', ['--expose-gc', '-p', '1 + 1'], ['--expose-gc']],
  [
    'not the debugger',
    ['--inspect-brk=9229', '--inspect', '--debug-port=1', '--inspect-publish-uid=http'],
    [],
  ],
  [
    'neither such a flag nor the word behind it',
    ['--input-type', 'module', '--inspect-port', '9339', '--test-reporter', 'spec', '--expose-gc'],
    ['--expose-gc'],
  ],
  [
    'not the snapshot, which is the program',
    ['--snapshot-blob', 'program.blob', '--expose-gc'],
    ['--expose-gc'],
  ],
  ['not the test runner', ['--test', '--test-concurrency=2', '--watch'], []],
  [
    'nor a value that such a flag has in the next word',
    ['--inspect-publish-uid', 'http', '--test-random-seed', '5', '--test', '--no-warnings', '-e', '-1'],
    ['--no-warnings'],
  ],
]
for (const [title, given, expected] of cases) {
  test(`a process inherits ${title}`, () => assert.deepEqual(inheritedFlags(given), expected))
}

test('limits become flags before the entry, arguments follow it', () => {
  const words = processArguments('/entry.js', {
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

test('a limit is a whole number to Node, and none of its own is less than one', () => {
  const limits = { maxOldGenerationSizeMb: 64.5, maxYoungGenerationSizeMb: 0 }
  assert.deepEqual(processArguments('/entry.js', { resourceLimits: limits }), [
    '--max-old-space-size=65',
    '--max-semi-space-size=1',
    '/entry.js',
  ])
})

test('a limit that is none becomes no flag: Node refuses the word, or makes a small limit of it', () => {
  for (const limit of [Infinity, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER]) {
    const none = { maxOldGenerationSizeMb: limit, maxYoungGenerationSizeMb: limit }
    assert.deepEqual(processArguments('/entry.js', { resourceLimits: none }), ['/entry.js'])
  }
})

test('a process does not report to the runner that watches this one', () => {
  const environment = { WATCH_REPORT_DEPENDENCIES: '1', OTHER: 'x' }
  assert.deepEqual(processEnvironment(environment), { OTHER: 'x' })
  assert.equal(processEnvironment(undefined).PATH, process.env.PATH)
})

test("the debugger's words of NODE_OPTIONS stay behind, but for those that a worker was given", t => {
  const before = process.env.NODE_OPTIONS
  t.after(() => {
    if (before === undefined) delete process.env.NODE_OPTIONS
    else process.env.NODE_OPTIONS = before
  })
  const told = { NODE_OPTIONS: '--inspect=0 --no-warnings --inspect-port=1' }
  process.env.NODE_OPTIONS = told.NODE_OPTIONS
  assert.equal(processEnvironment(undefined).NODE_OPTIONS, '--no-warnings')
  assert.deepEqual(processEnvironment(told), told)
  process.env.NODE_OPTIONS = ' --no-warnings'
  assert.equal(processEnvironment(undefined).NODE_OPTIONS, ' --no-warnings')
  delete process.env.NODE_OPTIONS
  assert.equal('NODE_OPTIONS' in processEnvironment(undefined), false)
})

test('an end by a signal is counted as shells do', () => {
  assert.equal(exitCodeOf('SIGKILL'), 137)
  assert.equal(exitCodeOf(null), 1)
})
