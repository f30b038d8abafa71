import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../testing/stand-ins.js'
import { type Due, DueHeap } from './due-heap.js'

const due = (dueAt: number): Due => ({ dueAt, place: -1 })

for (const seed of [1, 2, 3, Date.now() >>> 0]) {
  test(`the item that is due first stays first while items are added and removed (seed ${seed})`, () => {
    const random = seededRandom(seed)
    const heap = new DueHeap<Due>()
    const inside: Due[] = []
    for (let step = 0; step < 3000; step++) {
      if (random(5) < 3 || inside.length === 0) {
        const item = due(random(50))
        heap.add(item)
        inside.push(item)
      } else {
        const [item] = inside.splice(random(inside.length), 1)
        heap.remove(item!)
        assert.equal(item!.place, -1)
      }
      assert.equal(heap.soonest?.dueAt ?? Infinity, Math.min(Infinity, ...inside.map(item => item.dueAt)))
    }
    for (const item of inside) heap.remove(item)
    assert.equal(heap.soonest, null)
  })
}

test('remove() ignores an item that is not in the heap', () => {
  const heap = new DueHeap<Due>()
  const [one, other] = [due(1), due(2)]
  heap.add(one)
  heap.remove(other)
  heap.remove(one)
  heap.remove(one)
  assert.equal(heap.soonest, null)
})
