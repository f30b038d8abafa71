// Numbers that look drawn by lot, and are the same in each run.

/** Each call gives an integer of at least 0, below what it is given. */
export function draws(): (below: number) => number {
  let seed = 1
  return below => {
    seed = (seed * 48271) % (2 ** 31 - 1)
    return seed % below
  }
}
