// A moment as one shared word: milliseconds, modulo 2^32, never 0. Enough for what began in the last 24 days.

/** Not before `now`: a limit that counts from it is never over too early. */
export function toStamp(now: number): number {
  const stamp = Math.ceil(now) | 0
  return stamp === 0 ? 1 : stamp
}

/** The moment that the stamp stands for, on the clock that says `now`; `now` itself for 0, which is none. */
export function fromStamp(stamp: number, now: number): number {
  if (stamp === 0) return now
  const whole = Math.floor(now)
  return whole - ((whole - stamp) | 0)
}
