// Stands in for `shared/platform/atomics` under the condition `model`: nothing is shared, and every access to a word, atomic or
// plain, is handed to whoever plays the threads, as an operation that happens when its turn comes.
import type { SharedWords } from '../shared/platform/atomics.js'

export type { SharedWords }

export type Access =
  | { kind: 'load'; memory: SharedArrayBuffer; index: number }
  | { kind: 'store'; memory: SharedArrayBuffer; index: number; value: number }
  | { kind: 'replace'; memory: SharedArrayBuffer; index: number; expected: number; value: number }
  /** A load that is not atomic. */
  | { kind: 'read'; memory: SharedArrayBuffer; index: number }
  /** A store that is not atomic. */
  | { kind: 'write'; memory: SharedArrayBuffer; index: number; value: number }

/** The thread in whose name the code runs at the moment. */
export interface ModelThread {
  allocate(bytes: number): SharedArrayBuffer
  /** What was found; of a `replace`, whether it did. */
  access(access: Access): number
}

let current: ModelThread | null = null

/** Runs `act` in the name of a thread. */
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

export function allocateWords(count: number): SharedWords {
  return wordsOf(allocateMemory(count * Int32Array.BYTES_PER_ELEMENT))
}

/** Words that are elsewhere: plain accesses to them are operations too. */
export function wordsOf(memory: SharedArrayBuffer): SharedWords {
  return new Proxy({ memory }, plainAccesses) as unknown as SharedWords
}

export function load(words: SharedWords, index: number): number {
  return thread().access({ kind: 'load', memory: memoryOf(words), index })
}

export function store(words: SharedWords, index: number, value: number): void {
  thread().access({ kind: 'store', memory: memoryOf(words), index, value })
}

export function replace(words: SharedWords, index: number, expected: number, next: number): boolean {
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
    // As an array of 32-bit words would keep it.
    thread().access({ kind: 'write', memory, index: indexOf(key), value: value | 0 })
    return true
  },
}

function memoryOf(words: SharedWords): SharedArrayBuffer {
  return (words as unknown as ModelWords).memory
}

function indexOf(key: string | symbol): number {
  const index = Number(String(key))
  if (!Number.isInteger(index) || index < 0) throw new Error(`the model has no words.${String(key)}`)
  return index
}

function thread(): ModelThread {
  if (current === null) throw new Error('a shared word is touched outside of the model')
  return current
}
