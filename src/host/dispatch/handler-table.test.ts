// Numbers for handlers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandlerTable } from './handler-table.js'

function call(table: HandlerTable, name: string) {
  const handler = { filename: '/a.js', name }
  return { ...handler, handlerId: table.enter(handler) }
}

test('a file and a name have one number, all others another', () => {
  const table = new HandlerTable()
  const a = { filename: '/a.js', name: 'default' }
  const ids = [a, { ...a, name: 'other' }, { ...a, filename: '/b.js' }].map(handler => table.idOf(handler))
  assert.equal(new Set(ids).size, 3)
  assert.equal(table.idOf({ ...a }), ids[0])
})

test('a number that was forgotten is never given again', () => {
  const table = new HandlerTable()
  const a = { filename: '/a.js', name: 'default' }
  const first = table.idOf(a)
  table.forget(a)
  table.forget(a)
  table.forget({ filename: '/never.js', name: 'x' })
  assert.notEqual(table.idOf(a), first)
})

test('names such as __proto__ are names', () => {
  const table = new HandlerTable()
  assert.notEqual(
    table.idOf({ filename: '__proto__', name: '__proto__' }),
    table.idOf({ filename: '__proto__', name: 'constructor' }),
  )
})

test('names that answered no call are forgotten with their last call, but for 64', () => {
  const table = new HandlerTable()
  const kept = Array.from({ length: 64 }, (_, index) => call(table, `kept${index}`))
  for (const one of kept) assert.equal(table.leave(one), false)
  const twice = [call(table, 'beyond'), call(table, 'beyond')]
  assert.equal(table.leave(twice[0]!), false, 'another waits')
  assert.equal(table.idOf(twice[1]!), twice[1]!.handlerId)
  assert.equal(table.leave(twice[1]!), true)
  assert.notEqual(table.idOf(twice[1]!), twice[1]!.handlerId)
  for (const one of kept) assert.equal(table.idOf(one), one.handlerId)
})

test('a handler that has answered keeps its number, whatever becomes of its calls', () => {
  const table = new HandlerTable()
  const waiting = Array.from({ length: 64 }, (_, index) => call(table, `waiting${index}`))
  const answered = call(table, 'answered')
  table.prove(answered.handlerId)
  assert.equal(table.leave(answered), false)
  assert.equal(table.leave(call(table, 'answered')), false)
  assert.equal(table.idOf(answered), answered.handlerId)
  assert.equal(waiting.length, 64)
})
