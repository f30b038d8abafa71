// A moment goes through a word of 32 bits and comes back.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addToTimestamp32, fromTimestamp32, toTimestamp32 } from './timestamp32.js'

describe('a stamp', () => {
  const moments = [0.5, 1, 1000.25, 2 ** 31 - 0.5, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 7.75, 2 ** 40 + 3]
  for (const moment of moments) {
    test(`of ${moment} is read as that millisecond or the next, then and days later`, () => {
      for (const later of [0, 1, 1000.5, 20 * 86_400_000]) {
        const read = fromTimestamp32(toTimestamp32(moment), moment + later)!
        assert.ok(read >= moment && read <= moment + 2, `${read}`)
      }
    })
  }

  test('that was not given reads as none, and later as well', () => {
    assert.equal(fromTimestamp32(0, 12.5), null)
    assert.equal(addToTimestamp32(0, 7), 0)
  })

  test('of later is read as later, also where the word begins anew', () => {
    const moment = 2 ** 32 - 4
    assert.equal(fromTimestamp32(addToTimestamp32(toTimestamp32(moment), 10), moment + 20), moment + 10)
  })

  test('is never the word that says there is none', () => assert.notEqual(toTimestamp32(2 ** 32), 0))
})
