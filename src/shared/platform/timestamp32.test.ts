import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addToTimestamp32, fromTimestamp32, toTimestamp32 } from './timestamp32.js'

describe('timestamp32', () => {
  const moments = [0.5, 1, 1000.25, 2 ** 31 - 0.5, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 7.75, 2 ** 40 + 3]
  for (const moment of moments) {
    test(`the timestamp of ${moment} ms is read back exact to 2 ms, also 20 days later`, () => {
      for (const later of [0, 1, 1000.5, 20 * 86_400_000]) {
        const read = fromTimestamp32(toTimestamp32(moment), moment + later)!
        assert.ok(read >= moment && read <= moment + 2, `${read}`)
      }
    })
  }

  test('a timestamp of 0 is read as null, and stays 0 when time is added', () => {
    assert.equal(fromTimestamp32(0, 12.5), null)
    assert.equal(addToTimestamp32(0, 7), 0)
  })

  test('addToTimestamp32() returns the later time, also when the 32-bit word wraps around', () => {
    const moment = 2 ** 32 - 4
    assert.equal(fromTimestamp32(addToTimestamp32(toTimestamp32(moment), 10), moment + 20), moment + 10)
  })

  test('toTimestamp32() does not return 0 when the 32-bit word wraps around', () =>
    assert.notEqual(toTimestamp32(2 ** 32), 0))
})
