// Pseudo-random numbers that are the same in each run.

/** Each call returns an integer from 0 to `below - 1`. */
export function draws(): (below: number) => number {
  let seed = 1
  return below => {
    seed = (seed * 48271) % (2 ** 31 - 1)
    return seed % below
  }
}
