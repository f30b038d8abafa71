// The encoder's side of shapes: which list of keys has which number. A list is learned when it is met again soon, so
// that objects used as tables of arbitrary keys neither fill the dictionary nor this memory; all here is bounded.
import { type Dictionary, LONGEST_KEY, MOST_KEYS, MOST_SHAPES } from './dictionary.js'
import { generateWriter, type WriteShaped } from './generated-code.js'
import { charCodeAt, ObjectIntrinsic } from './intrinsics.js'

const BUCKETS = 1024
const LONGEST_BUCKET = 4
const CANDIDATES = 256
/** Code is made for a shape that has been written so often. */
const USES_BEFORE_CODE = 8
/** When not even these fit any more, the dictionary is full. */
const FEW_KEYS = 8
const HASHED_UNITS = 4
const DIGIT_0 = 48
const DIGIT_9 = 57
const objectPrototype: object = ObjectIntrinsic.prototype
const noShapes: LearnedShape[] = []

export class LearnedShape {
  readonly number: number
  readonly keys: readonly string[]
  /** The shape that was written after this one the last time: most often it is again. */
  next: LearnedShape | undefined
  write: WriteShaped | undefined
  #uses = 0

  constructor(number: number, keys: readonly string[]) {
    this.number = number
    this.keys = keys
  }

  countUse(): void {
    if (++this.#uses === USES_BEFORE_CODE) this.write = generateWriter(this.number, this.keys)
  }
}

export class LearnedShapes {
  readonly #dictionary: Dictionary
  /** Most stay empty, and share one list: pools and workers are made more often than shapes are learned. */
  readonly #buckets: LearnedShape[][] = new Array(BUCKETS).fill(noShapes)
  readonly #candidates: (readonly string[] | undefined)[] = new Array(CANDIDATES).fill(undefined)
  #count = 0
  #isFull = false

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary
  }

  /** The shape with exactly these keys in this order, if it is learned, or learned by this very look. */
  find(keys: readonly string[]): LearnedShape | undefined {
    if (keys.length > MOST_KEYS) return undefined
    const hash = hashOf(keys)
    const bucket = this.#buckets[hash & (BUCKETS - 1)]!
    for (let index = 0; index < bucket.length; index++) {
      const shape = bucket[index]!
      if (areSame(shape.keys, keys)) return shape
    }
    if (this.#isFull || bucket.length >= LONGEST_BUCKET) return undefined
    const place = hash & (CANDIDATES - 1)
    const candidate = this.#candidates[place]
    if (candidate !== undefined && areSame(candidate, keys)) return this.#learn(keys, hash, bucket)
    this.#candidates[place] = areLearnable(keys) ? keys : undefined
    return undefined
  }

  #learn(keys: readonly string[], hash: number, bucket: LearnedShape[]): LearnedShape | undefined {
    if (this.#count === MOST_SHAPES || !this.#dictionary.append(keys)) {
      this.#isFull = this.#count === MOST_SHAPES || keys.length <= FEW_KEYS
      return undefined
    }
    const shape = new LearnedShape(this.#count++, keys)
    if (bucket === noShapes) this.#buckets[hash & (BUCKETS - 1)] = [shape]
    else bucket[bucket.length] = shape
    return shape
  }
}

function hashOf(keys: readonly string[]): number {
  let hash = keys.length
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!
    const { length } = key
    hash = mix(hash, length)
    // Keys that are counted through differ at their end.
    for (let at = length > HASHED_UNITS ? length - HASHED_UNITS : 0; at < length; at++) {
      hash = mix(hash, charCodeAt(key, at))
    }
  }
  return hash ^ (hash >>> 15)
}

function mix(hash: number, unit: number): number {
  return (hash * 31 + unit) | 0
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false
  for (let index = 0; index < some.length; index++) if (some[index] !== others[index]) return false
  return true
}

/** Keys that stand on every object, or that an object keeps in an order of their own, are written each time. */
function areLearnable(keys: readonly string[]): boolean {
  if (keys.length === 0) return false
  for (const key of keys) {
    if (key.length > LONGEST_KEY || key in objectPrototype) return false
    const first = key.length === 0 ? 0 : charCodeAt(key, 0)
    if (first >= DIGIT_0 && first <= DIGIT_9) return false
  }
  return true
}
