// What a handler threw, or a caller gave as its reason, on the way to another process. It may hold what leaves its process as
// little as the failure's own words should stay behind for it.
import { type PackedThrown, withoutUnsendable } from '../errors/remote-error.js'
import { HEAD_BYTES } from './frames.js'
import { packMessage, unpackMessage } from './process-values.js'

/** It is tried: some of what no process can read is written without a word. */
export function pipedFailure(packed: PackedThrown): PackedThrown {
  return crosses(packed) ? packed : withoutUnsendable(packed, crosses)
}

function crosses(data: object): boolean {
  try {
    unpackMessage(packMessage(data).subarray(HEAD_BYTES))
    return true
  } catch {
    return false
  }
}
