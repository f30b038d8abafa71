// A moment as one shared word: milliseconds, modulo 2^32, never 0. Enough for what began in the last 24 days.

/** Not before `now`: a limit that counts from it is never over too early. */
export function toStamp(now: number): number {
  const stamp = Math.ceil(now) | 0
  return stamp === 0 ? 1 : stamp
}

/** A stamp of so many milliseconds later; 0, which is none, stays 0. */
export function laterStamp(stamp: number, byMs: number): number {
  return stamp === 0 ? 0 : toStamp(stamp + byMs)
}

/** The moment that the stamp stands for, on the clock that says `now`; `null` for 0, which is none. */
export function fromStamp(stamp: number, now: number): number | null {
  if (stamp === 0) return null
  const whole = Math.floor(now)
  return whole - ((whole - stamp) | 0)
}
