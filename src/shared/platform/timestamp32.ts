// A point in time in one 32-bit word: milliseconds modulo 2^32, never 0. Works for times of the last 24 days.

/** Rounds up, so that a limit that starts at this time never ends too early. */
export function toTimestamp32(now: number): number {
  const timestamp = Math.ceil(now) | 0
  return timestamp === 0 ? 1 : timestamp
}

/** 0 means "no time" and stays 0. */
export function addToTimestamp32(timestamp: number, addedMs: number): number {
  return timestamp === 0 ? 0 : toTimestamp32(timestamp + addedMs)
}

/** The time on the clock that reads `now`; `null` for 0, which means "no time". */
export function fromTimestamp32(timestamp: number, now: number): number | null {
  if (timestamp === 0) return null
  const whole = Math.floor(now)
  return whole - ((whole - timestamp) | 0)
}
