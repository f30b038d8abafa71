// Helpers for tests of one folder: tasks without a pool, promises with a readable state, seeded random numbers.

import type { TransferItem } from '../api/call-options.js'
import { Rejection } from '../host/task/rejection.js'
import { Task } from '../host/task/task.js'
import { realClock } from '../shared/platform/clock.js'

/** Resolves when all queued microtasks, and the microtasks that they add, have run. */
export function microtasks(): Promise<void> {
  return new Promise(resolve => realClock.nextTurn(resolve))
}

export interface Watched<T> {
  state: 'pending' | 'fulfilled' | 'rejected'
  value: T | undefined
  error: any
}

/** Records the state of a promise, so that a test can read it synchronously. */
export function watch<T>(promise: Promise<T>): Watched<T> {
  const watched: Watched<T> = { state: 'pending', value: undefined, error: undefined }
  promise.then(
    value => Object.assign(watched, { state: 'fulfilled', value }),
    (error: unknown) => Object.assign(watched, { state: 'rejected', error }),
  )
  return watched
}

export interface TaskTraits {
  handlerId?: number
  priority?: number
  group?: string
  createdAt?: number
  signal?: AbortSignal | null
  isExclusive?: boolean
  key?: string | null
  transferList?: readonly TransferItem[]
  payload?: unknown
  resolve?: (value: unknown) => void
  reject?: (reason: unknown) => void
}

/** Creates a task without a caller. */
export function makeTask(id: number, traits: TaskTraits = {}): Task {
  const terms = {
    handler: { filename: '/handler.js', name: 'default' },
    transferList: traits.transferList ?? [],
    signal: traits.signal ?? null,
    limits: null,
    isExclusive: traits.isExclusive ?? false,
    priority: traits.priority ?? 0,
    key: traits.key ?? null,
    isSerial: false,
    group: traits.group ?? null,
    queueOptions: undefined,
    retry: null,
    exchange: () => () => {},
    workerId: 0,
  }
  const { resolve = () => {}, reject = () => {} } = traits
  const settle = (answer: unknown) =>
    answer instanceof Rejection ? answer.then(resolve, reject) : resolve(answer)
  return new Task(
    id,
    { payload: traits.payload ?? id, terms },
    traits.handlerId ?? 1,
    traits.createdAt ?? 0,
    settle,
  )
}

/** Numbers that look random and are the same for the same seed. */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return below => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
