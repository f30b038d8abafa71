// Finds what a misspelt name means, for error messages.

const MOST_EDITS = 3

/** The known name with the fewest edits from `given`, ignoring case; `undefined` when no name is near. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let fewest = Math.min(MOST_EDITS, Math.ceil(given.length / 3)) + 1
  for (const name of known) {
    // Each further character is an edit. The name of a job may have thousands.
    if (Math.abs(name.length - given.length) >= fewest) continue
    const edits = editDistance(given.toLowerCase(), name.toLowerCase())
    if (edits >= fewest) continue
    fewest = edits
    best = name
  }
  return best
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let line = 1; line <= one.length; line++) {
    const next = [line]
    for (let column = 1; column <= other.length; column++) {
      const exchanged = row[column - 1]! + (one[line - 1] === other[column - 1] ? 0 : 1)
      next.push(Math.min(exchanged, row[column]! + 1, next[column - 1]! + 1))
    }
    row = next
  }
  return row[other.length]!
}
