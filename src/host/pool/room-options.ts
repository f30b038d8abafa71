// What a caller may say of its wait for room.
import { ownOptions, resolveSignal } from './call-options.js'

export interface RoomOptions {
  /** Aborting it gives up waiting: the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

export function resolveRoom(given: unknown): AbortSignal | null {
  if (given === undefined) return null
  return resolveSignal('room()', ownOptions<RoomOptions>('room()', given, ['signal']).signal)
}
