// What a worker holds whose tasks come by the port.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTask } from '../../testing/stand-ins.js'
import { PortSlots } from './port-slots.js'

test('tasks are told in the order in which they came, whichever slot was free', () => {
  const slots = new PortSlots(2)
  const [first, second, third] = [1, 2, 3].map(ordinal => Object.assign(makeTask(ordinal), { ordinal }))
  slots.assign(first!)
  slots.assign(second!)
  slots.release(first!)
  slots.assign(third!)
  assert.deepEqual([second!.slot, third!.slot], [1, 0])
  assert.deepEqual(slots.tasks(), [second, third])
  assert.deepEqual([slots.taskAt(0, 1), slots.taskAt(0, 3)], [null, third])
})
