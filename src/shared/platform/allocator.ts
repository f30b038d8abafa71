// Teaches the system's allocator that large buffers come and go here.
//
// glibc gives freed memory back to the system from 128 KiB on, and each of its pages is a fault when it is asked for again: a
// program that hands 64 KiB buffers over by the thousand spends much of its time on that. But glibc learns: when a block is
// freed that it had mapped by itself, blocks up to that size are taken from the heap from then on, and twice as much is kept
// (mallopt(3), M_MMAP_THRESHOLD, "dynamic"). So such a block is made and dropped. Its pages are never touched. Other allocators
// have no such rule, and make nothing of it.
import { getBuiltinModule } from './node-modules.js'

const { Buffer } = getBuiltinModule('node:buffer')
const blank = Buffer.allocUnsafeSlow

/** Buffers that pass before it is worth it. */
const ENOUGH = 256
/** Below it, some of the gain is lost: what is dropped between two collections is more than twice as much. */
const BLOCK_BYTES = 16 * 2 ** 20

let isWatching = false
let left = Number.POSITIVE_INFINITY

/**
 * From now on this thread counts. The main thread alone does: what a thread makes counts against its own limits, while what the
 * allocator learns holds for the whole process.
 */
export function watchLargeBuffers(): void {
  if (isWatching) return
  isWatching = true
  left = ENOUGH
}

/** One of 16 KiB or more was sent or received. */
export function noteLargeBuffer(): void {
  left--
  if (left !== 0) return
  try {
    blank(BLOCK_BYTES)
  } catch {
    // There is no room for it, so none is kept.
  }
}
