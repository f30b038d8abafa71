// Objects keep the numbers of the order in which they began, however many there are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownObjects } from './known-objects.js'

for (const count of [1, 2, 255, 256, 257, 384, 385, 386, 1000]) {
  test(`each of ${count} objects has the number of its turn`, () => {
    const known = new KnownObjects()
    const objects = Array.from({ length: count }, (_, index) => (index % 3 === 0 ? [] : {}))
    const numberOf = (object: object) => known.numberOf(object, Array.isArray(object))
    for (let message = 0; message < 3; message++) {
      for (const [index, object] of objects.entries()) {
        assert.equal(numberOf(object), -1)
        assert.equal(numberOf(objects[index >> 1]!), index >> 1)
      }
      assert.deepEqual(
        objects.map(object => numberOf(object)),
        objects.map((_, index) => index),
      )
      known.clear()
    }
  })
}
