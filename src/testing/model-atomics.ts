// Replaces `shared/platform/atomics` under the condition `model`. No memory is shared. The model gets each access to a
// word, atomic or plain, as an operation, and decides when it happens.
import type { LaneWords } from '../shared/platform/atomics.js'

export type { LaneWords }

export type Access =
  | { kind: 'load'; memory: SharedArrayBuffer; index: number }
  | { kind: 'store'; memory: SharedArrayBuffer; index: number; value: number }
  | { kind: 'replace'; memory: SharedArrayBuffer; index: number; expected: number; value: number }
  /** A plain load. */
  | { kind: 'read'; memory: SharedArrayBuffer; index: number }
  /** A plain store. */
  | { kind: 'write'; memory: SharedArrayBuffer; index: number; value: number }

/** A thread of the model. */
export interface ModelThread {
  allocate(bytes: number): SharedArrayBuffer
  /** Returns the value of a load; for a `replace`, 1 if it succeeded. */
  access(access: Access): number
}

let current: ModelThread | null = null

/** Runs `act` as this thread. */
export function actAs<Result>(thread: ModelThread, act: () => Result): Result {
  const before = current
  current = thread
  try {
    return act()
  } finally {
    current = before
  }
}

export function allocateMemory(bytes: number): SharedArrayBuffer {
  return thread().allocate(bytes)
}

export function allocateWords(count: number): LaneWords {
  return wordsOf(allocateMemory(count * Int32Array.BYTES_PER_ELEMENT))
}

/** Returns a proxy, so that plain accesses also become operations. */
export function wordsOf(memory: SharedArrayBuffer): LaneWords {
  return new Proxy({ memory }, plainAccesses) as unknown as LaneWords
}

export function load(words: LaneWords, index: number): number {
  return thread().access({ kind: 'load', memory: memoryOf(words), index })
}

export function store(words: LaneWords, index: number, value: number): void {
  thread().access({ kind: 'store', memory: memoryOf(words), index, value })
}

export function replace(words: LaneWords, index: number, expected: number, next: number): boolean {
  return thread().access({ kind: 'replace', memory: memoryOf(words), index, expected, value: next }) === 1
}

export const pause: () => void = () => {}

interface ModelWords {
  memory: SharedArrayBuffer
}

const plainAccesses: ProxyHandler<ModelWords> = {
  get({ memory }, key) {
    if (key === 'memory') return memory
    return thread().access({ kind: 'read', memory, index: indexOf(key) })
  },
  set({ memory }, key, value: number) {
    // Converts to 32 bits, like an Int32Array.
    thread().access({ kind: 'write', memory, index: indexOf(key), value: value | 0 })
    return true
  },
}

function memoryOf(words: LaneWords): SharedArrayBuffer {
  return (words as unknown as ModelWords).memory
}

function indexOf(key: string | symbol): number {
  const index = Number(String(key))
  if (!Number.isInteger(index) || index < 0) throw new Error(`The model has no words.${String(key)}.`)
  return index
}

function thread(): ModelThread {
  if (current === null) throw new Error('Code outside the model accessed a shared word.')
  return current
}
