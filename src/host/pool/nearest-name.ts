// The name somebody probably meant, for an error about one that does not exist.

const MOST_EDITS = 3

/** Names of the same thing elsewhere, that no spelling would lead from. */
const sameThing: Record<string, string> = {
  __proto__: null as never,
  taskQueue: 'queue',
  threads: 'maxThreads',
  workers: 'maxThreads',
  maxWorkers: 'maxThreads',
  minWorkers: 'minThreads',
  maxQueueSize: 'maxQueue',
  abortSignal: 'signal',
  transfer: 'transferList',
}

/** The known name closest to `given`, ignoring case; `undefined` when none is close. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const same = sameThing[given]
  if (same !== undefined && known.includes(same)) return same
  let best: string | undefined
  let fewest = Math.min(MOST_EDITS, Math.ceil(given.length / 3)) + 1
  for (const name of known) {
    const edits = editDistance(given.toLowerCase(), name.toLowerCase())
    if (edits >= fewest) continue
    fewest = edits
    best = name
  }
  return best
}

/** A sentence about a name that does not exist. */
export function hintAt(given: string, known: readonly string[]): string {
  const nearest = nearestName(given, known)
  return nearest === undefined ? `Known are ${known.join(', ')}.` : `Did you mean '${nearest}'?`
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
