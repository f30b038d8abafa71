import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ANSWERED,
  type FrameKind,
  FrameReader,
  HEAD_BYTES,
  LOADING,
  STARTED,
  VALUE_FRAME,
  writeHead,
} from './pipe-frames.js'

function valueFrame(text: string): Buffer {
  const body = Buffer.from(text)
  const head = Buffer.alloc(HEAD_BYTES)
  writeHead(head, VALUE_FRAME, body.length)
  return Buffer.concat([head, body])
}

function control(kind: FrameKind, slot: number, taskId: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  writeHead(head, kind, slot, taskId)
  return head
}

const stream = Buffer.concat([
  valueFrame('first'),
  control(STARTED, 3, 2 ** 31 - 1),
  valueFrame(''),
  valueFrame('a longer one'.repeat(20)),
  control(LOADING, 0, 0),
  control(ANSWERED, 3, 0),
])
const expected = [
  'first',
  `${STARTED} 3 2147483647`,
  '',
  'a longer one'.repeat(20),
  `${LOADING} 0 0`,
  `${ANSWERED} 3 0`,
]

for (const size of [1, 2, 7, HEAD_BYTES, HEAD_BYTES + 1, 64, stream.length]) {
  test(`FrameReader reads all frames from pieces of ${size} bytes`, () => {
    const seen: string[] = []
    const reader = new FrameReader(
      {
        onValue: bytes => seen.push(bytes.toString()),
        onControl: (kind, slot, taskId) => seen.push(`${kind} ${slot} ${taskId}`),
        onGarbage: () => seen.push('garbage'),
      },
      4,
    )
    for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size))
    assert.deepEqual(seen, expected)
  })
}

const foreign: [what: string, bytes: Buffer][] = [
  ['an unknown kind', control(7 as FrameKind, 0, 0)],
  ['an unknown ticket', control(STARTED, 4, 1)],
  ['foreign text', Buffer.from('some library: warning: something\n')],
  ['an impossible length', control(VALUE_FRAME, 0xffffffff, 0)],
  [
    'a value without its mark',
    Buffer.concat([
      valueFrame('a value').subarray(0, 8),
      Buffer.alloc(8),
      valueFrame('a value').subarray(16),
    ]),
  ],
  [
    'a head whose last word is not 0',
    Buffer.concat([control(STARTED, 0, 1).subarray(0, 12), Buffer.alloc(4, 1)]),
  ],
]
for (const [what, bytes] of foreign) {
  test(`${what} is reported once, and later bytes are ignored`, () => {
    const seen: string[] = []
    const reader = new FrameReader(
      {
        onValue: () => seen.push('value'),
        onControl: () => seen.push('control'),
        onGarbage: () => seen.push('garbage'),
      },
      4,
    )
    reader.push(Buffer.concat([control(STARTED, 0, 1), bytes, valueFrame('more')]))
    reader.push(valueFrame('and more'))
    assert.deepEqual(seen, ['control', 'garbage'])
  })
}
