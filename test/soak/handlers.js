// The handlers of a soak. Each handler counts its start in the place of the task's index.
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { move, workerData } from 'lido/worker'

/** The number of starts of the task in each place. */
const starts = workerData

function countStart(index) {
  Atomics.add(starts, index % starts.length, 1)
}

export function number(value) {
  countStart(Math.floor(value))
  return value + 1
}

export function object({ index, label, flags }) {
  countStart(index)
  return { index, label: `${label}!`, total: flags.length, inner: { flags, none: null } }
}

export function body(value) {
  countStart(value.index)
  return { ...value, seen: value.rows.length }
}

export function text(value) {
  countStart(Number.parseInt(value, 10))
  return `${value}!`
}

export function bytes(value) {
  countStart(new DataView(value.buffer, value.byteOffset).getUint32(0))
  value[value.length - 1]++
  return value
}

export function moved(buffer) {
  const view = new DataView(buffer)
  countStart(view.getUint32(0))
  view.setUint8(buffer.byteLength - 1, 99)
  return move(buffer)
}

export async function later({ index }) {
  countStart(index)
  await null
  return index
}

export async function laterTurn({ index }) {
  countStart(index)
  await turn()
  return index
}

export async function laterTimer({ index }) {
  countStart(index)
  await pause(1)
  return index
}

export function thrown({ index }) {
  countStart(index)
  throw new RangeError(`thrown ${index}`)
}

export async function rejected({ index }) {
  countStart(index)
  await null
  throw new TypeError(`rejected ${index}`)
}

export function exit({ index }) {
  countStart(index)
  process.exit(7)
}

export function endless({ index }) {
  countStart(index)
  for (;;);
}

export function patient({ index }) {
  countStart(index)
  return new Promise(() => {})
}
