// The names of `--only`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseRows, countedRows, realWorkRows, rows, rowsOfDocs } from '../../bench/rows.js'

const all = [...rows, ...countedRows, ...realWorkRows]
const idsOf = (...names) => chooseRows(all, names).map(({ id }) => id)

test('a name chooses a bar, one of its rows, or the rows whose names begin with it', () => {
  assert.deepEqual(idsOf('P5'), ['P5-string', 'P5-bytes'])
  assert.deepEqual(idsOf('p5-bytes'), ['P5-bytes'])
  assert.deepEqual(idsOf('P1'), ['P1'])
  assert.equal(idsOf('P19-2').length, 12)
  assert.ok(idsOf('P19-2').every(id => id.startsWith('P19-2-')))
})

test('the name docs chooses the rows of the documentation, with real work', () => {
  const ids = idsOf('docs')
  assert.deepEqual(ids, idsOf(...rowsOfDocs))
  assert.ok(ids.includes('P1') && ids.includes('real-markdown-2-4') && ids.includes('real-markdown-2-4-cpu'))
  assert.ok(!ids.includes('real-markdown-8-4') && !ids.includes('P22-1-quiet'))
  assert.ok(!ids.some(id => id.startsWith('P19-counted')))
})

test('an unknown name is rejected with the names of the rows', () => {
  assert.throws(() => idsOf('P1', 'P99'), /Unknown row 'P99'.*P1, P2/s)
})
