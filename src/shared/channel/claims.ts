// The shared words of one channel: who owns a task that was posted and not yet answered. A slot's word holds the id of
// the task posted into it; whoever takes that id away owns the task.
//
//   word            writer                              meaning
//   slot = id       host, before it posts the task      posted, nobody has it
//   slot = -id      worker, from id by compare-and-swap the worker runs it, or has run it
//   slot = 0        host, from id by compare-and-swap   taken back; the worker will find that and pass over the message
//
// The two compare-and-swaps exclude each other, so a task is never both run and taken back. Behind the slots' words stand
// three times as many more, in rows:
//
//   stage           worker; host 0, before it posts     1 while it loads the file of the slot's task, 2 while its answer is
//                                                       on its way, else 0
//   begun at        worker; host 0, before it posts     when it began the slot's task, in ms of the host's clock; 0 while its
//                                                       time does not count
//   cancelled       host                                the id of the task that nobody wants answered any more
//
// The last two words are the host's: how many tasks it has posted, and whether a worker may spend a moment of a spare core
// looking at that number. Words outlive their worker: after a death they still tell what had begun, and how far.
//
// Where there is no shared memory the worker has a copy: then what is posted is begun, nothing can be taken back, and
// nobody looks out.
import { allocateWords, load, replace, store } from '#atomics'
import type { SharedWords } from '../platform/atomics.js'
import { addToTimestamp32, fromTimestamp32, toTimestamp32 } from '../platform/timestamp32.js'

const FREE = 0
const RUNNING = 0
const LOADING = 1
const ANSWERED = 2
const LAST_ID = 2 ** 31 - 1
const ROWS = 4
const STAGE_ROW = 1
const BEGUN_ROW = 2
const CANCELLED_ROW = 3

export function hasSharedMemory(): boolean {
  return typeof SharedArrayBuffer !== 'undefined'
}

export function allocateClaims(slots: number): SharedWords {
  return allocateWords(ROWS * slots + 2)
}

export function slotsIn(claims: SharedWords): number {
  return (claims.length - 2) / ROWS
}

/** Ids of tasks as the shared words can hold them: 1 to 2^31 - 1, then 1 again. */
export function nextTaskId(id: number): number {
  return id === LAST_ID ? 1 : id + 1
}

/** Host: the task is about to be posted into the slot. */
export function offer(claims: SharedWords, slot: number, taskId: number): void {
  store(claims, wordOf(claims, BEGUN_ROW, slot), 0)
  store(claims, wordOf(claims, STAGE_ROW, slot), RUNNING)
  store(claims, slot, taskId)
}

/** Worker: true when the task is now this worker's to run. */
export function claim(claims: SharedWords, slot: number, taskId: number): boolean {
  if (!areShared(claims)) return true
  return replace(claims, slot, taskId, -taskId)
}

/** Host: true when the worker had not begun the task and never will. */
export function takeBack(claims: SharedWords, slot: number, taskId: number): boolean {
  if (!areShared(claims)) return false
  return replace(claims, slot, taskId, FREE)
}

/** Worker: what it has not claimed, the host can take back. */
export function canBeTakenBack(claims: SharedWords): boolean {
  return areShared(claims)
}

/** Worker: the task it has claimed waits for its file, or does no more. */
export function markLoading(claims: SharedWords, slot: number, isLoading: boolean): void {
  store(claims, wordOf(claims, STAGE_ROW, slot), isLoading ? LOADING : RUNNING)
}

/** The answer of the slot's task is on its way. */
export function markAnswered(claims: SharedWords, slot: number): void {
  store(claims, wordOf(claims, STAGE_ROW, slot), ANSWERED)
}

/** Host: is the answer of the slot's task, which its worker has claimed, on its way? */
export function isAnswered(claims: SharedWords, slot: number): boolean {
  return load(claims, wordOf(claims, STAGE_ROW, slot)) === ANSWERED
}

/** Host: did the worker, now dead, still load the file of the slot's task? */
export function wasLoading(claims: SharedWords, slot: number): boolean {
  return load(claims, wordOf(claims, STAGE_ROW, slot)) === LOADING
}

/** Worker: it has claimed the task, at `now` of the host's clock. */
export function noteBegin(claims: SharedWords, slot: number, now: number): void {
  store(claims, wordOf(claims, BEGUN_ROW, slot), toTimestamp32(now))
}

/** Worker: the task's time does not count. Returns what `resumeTime` needs. */
export function holdTime(claims: SharedWords, slot: number): number {
  const at = wordOf(claims, BEGUN_ROW, slot)
  const stamp = load(claims, at)
  store(claims, at, 0)
  return stamp
}

export function resumeTime(claims: SharedWords, slot: number, stamp: number, heldMs: number): void {
  store(claims, wordOf(claims, BEGUN_ROW, slot), addToTimestamp32(stamp, heldMs))
}

/** Host: when the worker began the task, which it has claimed; `null` while its time does not count. */
export function begunAt(claims: SharedWords, slot: number, now: number): number | null {
  return fromTimestamp32(load(claims, wordOf(claims, BEGUN_ROW, slot)), now)
}

/** Host: nobody wants the task's answer any more. */
export function cancel(claims: SharedWords, slot: number, taskId: number): void {
  store(claims, wordOf(claims, CANCELLED_ROW, slot), taskId)
}

/** Worker. Where nothing is shared, only a message tells. */
export function isCancelled(claims: SharedWords, slot: number, taskId: number): boolean {
  return load(claims, wordOf(claims, CANCELLED_ROW, slot)) === taskId
}

/** Host: after a task was posted, for a worker that looks out for one. */
export function announcePost(claims: SharedWords, posted: number): void {
  store(claims, claims.length - 1, posted)
}

/** Worker: how many tasks were posted. */
export function postCount(claims: SharedWords): number {
  return load(claims, claims.length - 1)
}

/** Host: there is a core to spare, or there is none. */
export function allowSpin(claims: SharedWords, isAllowed: boolean): void {
  store(claims, claims.length - 2, isAllowed ? 1 : 0)
}

/** Worker: may it look out for the next task before it goes back to its event loop? */
export function maySpin(claims: SharedWords): boolean {
  return areShared(claims) && load(claims, claims.length - 2) === 1
}

function wordOf(claims: SharedWords, row: number, slot: number): number {
  return slotsIn(claims) * row + slot
}

/** Host: has the worker begun the task? */
export function isClaimed(claims: SharedWords, slot: number, taskId: number): boolean {
  if (!areShared(claims)) return load(claims, slot) === taskId
  return load(claims, slot) === -taskId
}

/** False for words that no other thread sees. */
export function areShared(claims: SharedWords): boolean {
  return hasSharedMemory() && claims.buffer instanceof SharedArrayBuffer
}
