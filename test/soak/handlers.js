// What the tasks of a soak do in a worker. Each notes that it was begun, in the place that belongs to its index.
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { move, workerData } from 'lido/worker'

const begun = workerData

function begin(index) {
  Atomics.add(begun, index % begun.length, 1)
}

export function number(value) {
  begin(Math.floor(value))
  return value + 1
}

export function object({ index, label, flags }) {
  begin(index)
  return { index, label: `${label}!`, total: flags.length, inner: { flags, none: null } }
}

export function body(value) {
  begin(value.index)
  return { ...value, seen: value.rows.length }
}

export function text(value) {
  begin(Number.parseInt(value, 10))
  return `${value}!`
}

export function bytes(value) {
  begin(new DataView(value.buffer, value.byteOffset).getUint32(0))
  value[value.length - 1]++
  return value
}

export function moved(buffer) {
  const view = new DataView(buffer)
  begin(view.getUint32(0))
  view.setUint8(buffer.byteLength - 1, 99)
  return move(buffer)
}

export async function later({ index }) {
  begin(index)
  await null
  return index
}

export async function laterTurn({ index }) {
  begin(index)
  await turn()
  return index
}

export async function laterTimer({ index }) {
  begin(index)
  await pause(1)
  return index
}

export function thrown({ index }) {
  begin(index)
  throw new RangeError(`thrown ${index}`)
}

export async function rejected({ index }) {
  begin(index)
  await null
  throw new TypeError(`rejected ${index}`)
}

export function exit({ index }) {
  begin(index)
  process.exit(7)
}

export function endless({ index }) {
  begin(index)
  for (;;);
}

export function patient({ index }) {
  begin(index)
  return new Promise(() => {})
}
