import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepOptionFor } from './kept-results.js'

const counted = (count: number, isPostgres: boolean) => {
  const options = Array.from({ length: 1000 }, () => keepOptionFor({ age: 60, count }, isPostgres))
  assert.ok(options.every(({ age }) => age === 60))
  return options.filter(option => option.count === count).length
}

test('each job on Redis, and each job with a small limit, has the limit', () => {
  assert.equal(counted(10_000, false), 1000)
  assert.equal(counted(20, true), 1000)
})

test('some jobs on PostgreSQL have a large limit', () => {
  const jobs = counted(1000, true)
  assert.ok(jobs > 0 && jobs < 200, `${jobs} of 1,000 jobs have it`)
})
