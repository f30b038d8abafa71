// Something that is done to many at once, and fails for all where it fails for one: then it is done to each half.

/** @param mostTries with none left `otherwise` says what becomes of those that were not tried alone */
export function inHalves<Item, Result>(
  items: readonly Item[],
  mostTries: number,
  attempt: (part: readonly Item[]) => Result[],
  otherwise: (item: Item) => Result,
): Result[] {
  let triesLeft = mostTries
  return done(items)

  function done(part: readonly Item[]): Result[] {
    if (part.length === 0) return []
    if (triesLeft-- <= 0) return part.map(otherwise)
    try {
      return attempt(part)
    } catch {
      if (part.length === 1) return part.map(otherwise)
      const half = part.length >> 1
      return [...done(part.slice(0, half)), ...done(part.slice(half))]
    }
  }
}
