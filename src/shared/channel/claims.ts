// The shared words of one channel: who owns a task that was posted and not yet answered. A slot's word holds the id of
// the task posted into it; whoever takes that id away owns the task.
//
//   word            writer                              meaning
//   slot = id       host, before it posts the task      posted, nobody has it
//   slot = -id      worker, from id by compare-and-swap the worker runs it, or has run it
//   slot = 0        host, from id by compare-and-swap   taken back; the worker will find that and pass over the message
//
// The two compare-and-swaps exclude each other, so a task is never both run and taken back. A word outlives its worker:
// after a death it still tells what had begun.
import { allocateWords, load, replace, type SharedWords, store } from '../base/atomics.js'

const FREE = 0
const LAST_ID = 2 ** 31 - 1

export function allocateClaims(slots: number): SharedWords {
  return allocateWords(slots)
}

/** Ids of tasks as the shared words can hold them: 1 to 2^31 - 1, then 1 again. */
export function nextTaskId(id: number): number {
  return id === LAST_ID ? 1 : id + 1
}

/** Host: the task is about to be posted into the slot. */
export function offer(claims: SharedWords, slot: number, taskId: number): void {
  store(claims, slot, taskId)
}

/** Worker: true when the task is now this worker's to run. */
export function claim(claims: SharedWords, slot: number, taskId: number): boolean {
  return replace(claims, slot, taskId, -taskId)
}

/** Host: true when the worker had not begun the task and never will. */
export function takeBack(claims: SharedWords, slot: number, taskId: number): boolean {
  return replace(claims, slot, taskId, FREE)
}

/** Host: has the worker begun the task? */
export function isClaimed(claims: SharedWords, slot: number, taskId: number): boolean {
  return load(claims, slot) === -taskId
}
