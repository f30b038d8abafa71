// The kinds of tasks in a soak: how often each kind comes, its payload, and the check of its result.
import assert from 'node:assert/strict'
import { move } from 'lido'

const BODY_ROWS = 1000
const TEXT_LENGTH = 100_000
const BYTES_LENGTH = 100_000
const MOST_MOVED = 65_536

const rows = Array.from({ length: BODY_ROWS }, (_, row) => ({
  row,
  name: `row number ${row}`,
  price: row * 1.25,
  tags: ['soak', row % 2 === 0 ? 'even' : 'odd'],
  isLast: row === BODY_ROWS - 1,
}))
const narrow = 'abcdefghij'.repeat(TEXT_LENGTH / 10)
const wide = 'abcdefghi\u2713'.repeat(TEXT_LENGTH / 20)

/** `per10000`: the number of such tasks in 10,000. `isAborted`: when the signal is aborted. */
const table = {
  number: {
    per10000: 5600,
    payload: index => index,
    check: (index, value) => value === index + 1,
  },
  double: {
    per10000: 300,
    handler: 'number',
    payload: index => index + 0.5,
    check: (index, value) => value === index + 1.5,
  },
  object: {
    per10000: 3300,
    payload: (index, chance) => ({ index, label: `task ${index}`, flags: [chance % 2 === 0, index, null] }),
    check: (index, { index: back, label, total, inner: { flags, none } }) =>
      back === index && label === `task ${index}!` && total === 3 && flags[1] === index && none === null,
  },
  body: {
    per10000: 15,
    payload: index => ({ index, rows }),
    check: (index, value) =>
      value.index === index &&
      value.seen === BODY_ROWS &&
      isEqual(value.rows[index % BODY_ROWS], rows[index % BODY_ROWS]),
  },
  text: {
    per10000: 20,
    payload: (index, chance) => `${index} ${chance % 2 === 0 ? narrow : wide}`,
    check: (_index, value, sent) => value.length === sent.length + 1 && value === `${sent}!`,
  },
  bytes: {
    per10000: 25,
    payload: (index, chance) => {
      const bytes = new Uint8Array(BYTES_LENGTH).fill(chance & 0x7f)
      new DataView(bytes.buffer).setUint32(0, index)
      return bytes
    },
    check: (index, value, sent) =>
      value.length === BYTES_LENGTH &&
      new DataView(value.buffer, value.byteOffset).getUint32(0) === index &&
      value[50_000] === sent[50_000] &&
      value[BYTES_LENGTH - 1] === sent[BYTES_LENGTH - 1] + 1,
  },
  moved: {
    per10000: 60,
    payload: (index, chance) => {
      const buffer = new ArrayBuffer(8 + (chance % MOST_MOVED))
      new DataView(buffer).setUint32(0, index)
      return buffer
    },
    wrap: move,
    check: (index, value, sent) =>
      sent.byteLength === 0 &&
      new DataView(value).getUint32(0) === index &&
      new DataView(value).getUint8(value.byteLength - 1) === 99,
  },
  later: { per10000: 400, payload: withIndex, check: isIndex },
  laterTurn: { per10000: 60, payload: withIndex, check: isIndex },
  laterTimer: { per10000: 5, payload: withIndex, check: isIndex },
  thrown: { per10000: 60, payload: withIndex, fails: index => ['RangeError', `thrown ${index}`] },
  rejected: { per10000: 60, payload: withIndex, fails: index => ['TypeError', `rejected ${index}`] },
  abortedAtOnce: { per10000: 60, handler: 'later', payload: withIndex, check: isIndex, isAborted: 'at once' },
  abortedSoon: { per10000: 30, handler: 'later', payload: withIndex, check: isIndex, isAborted: 'soon' },
  watched: { per10000: 5, handler: 'later', payload: withIndex, check: isIndex, isWatched: true },
  // Submitted by the killer, not by chance.
  exit: { per10000: 0, payload: withIndex, isKilling: true },
  // Only a kill of its worker stops this task, and would fail other tasks there. So the task is exclusive.
  endless: { per10000: 0, payload: withIndex, isAborted: 'when started', exclusive: true },
  patient: { per10000: 0, payload: withIndex, isAborted: 'when started' },
}

export const kinds = Object.entries(table).map(([name, kind]) => ({
  name,
  handler: name,
  check: null,
  fails: null,
  wrap: null,
  isAborted: null,
  exclusive: false,
  isWatched: false,
  isKilling: false,
  ...kind,
}))

const wheel = kinds.flatMap(kind => new Array(kind.per10000).fill(kind))
assert.equal(wheel.length, 10_000)

export function kindFor(chance) {
  return wheel[chance % wheel.length]
}

export function kindNamed(name) {
  return kinds.find(kind => kind.name === name)
}

function withIndex(index) {
  return { index }
}

function isIndex(index, value) {
  return value === index
}

function isEqual(one, other) {
  try {
    assert.deepStrictEqual(one, other)
    return true
  } catch {
    return false
  }
}
