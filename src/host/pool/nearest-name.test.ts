// The name somebody probably meant.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nearestName } from './nearest-name.js'

const known = ['maxThreads', 'minThreads', 'maxQueue', 'filename', 'name', 'env', 'context']

describe('the nearest name', () => {
  const cases: [string, string | undefined][] = [
    ['maxThread', 'maxThreads'],
    ['MAXTHREADS', 'maxThreads'],
    ['maxthreds', 'maxThreads'],
    ['minTreads', 'minThreads'],
    ['fileName', 'filename'],
    ['nmae', 'name'],
    ['maxQueueLengthLimit', undefined],
    ['timeout', undefined],
    ['onExit', undefined],
    ['x', undefined],
    ['', undefined],
  ]
  for (const [given, expected] of cases) {
    test(`'${given}' ${expected === undefined ? 'is near none' : `means '${expected}'`}`, () => {
      assert.equal(nearestName(given, known), expected)
    })
  }

  test('a name that other pools use means the one used here', () => {
    assert.equal(nearestName('taskQueue', ['maxQueue', 'queue']), 'queue')
    assert.equal(nearestName('taskQueue', ['filename', 'name']), undefined)
    assert.equal(nearestName('threads', ['minThreads', 'maxThreads']), 'maxThreads')
  })

  test('the first of equally near names wins', () => {
    assert.equal(nearestName('mxThreads', ['maxThreads', 'moxThreads']), 'maxThreads')
  })

  test('nothing is near among no names', () => {
    assert.equal(nearestName('name', []), undefined)
  })
})
