// Numbers for handlers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandlerTable } from './handler-table.js'

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
