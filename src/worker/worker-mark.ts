// How a thread is known as a worker of a pool. On `globalThis`, so that every copy of this package sees the same. Apart
// from `worker-state.ts`, which looks when it is loaded: the mark must stand before that.
import { brandOf } from '../shared/base/brand.js'

const workerMark = brandOf('worker')

export function markAsWorker(): void {
  Object.defineProperty(globalThis, workerMark, { value: true })
}

export function isMarkedAsWorker(): boolean {
  return (globalThis as Record<symbol, unknown>)[workerMark] === true
}
